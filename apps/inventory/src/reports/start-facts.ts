import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Report, WorkloadRecord } from '#contracts';
import { barOnRecord, type Bar } from '#domain/workload/bar.js';
import { mayStartByItself } from '#domain/workload/ungated.js';
import { LATE_LIST_MS } from '#domain/workload/start-decision.js';
import type { LastWord } from '#domain/workload/last-word.js';
import { checkStart, type StartCheck } from '#domain/workload/where-it-runs.js';
import { showsNow } from '../store/entries-now.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AssignmentBook } from './assignment-book.js';
import { ReportsView } from './reports-view.js';
import { mayFollowTo, whoIsUnproven, whoMustAnswer, type AnswerFacts } from './who-must-answer.js';

/** What every node says of itself, for the question whether a workload may be started. */
@Injectable()
export class StartFactsService implements OnModuleInit, OnApplicationShutdown {
  private assignments = new AssignmentBook(Infinity);
  private unfollow: (() => void) | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
  ) {}

  onModuleInit(): void {
    const { view } = this.store.workloads;
    const now = (): number => this.store.clock.monotonicMs();
    const all = view.entries().map((e) => e.value);
    this.assignments = new AssignmentBook(now(), all, (node) => this.listedAt(node));
    this.unfollow = view.onChange((name, workload) => this.assignments.see(name, workload, now()));
  }

  onApplicationShutdown(): void {
    this.unfollow?.();
  }

  check(workload: string, target: string): StartCheck {
    const facts = this.answerFacts();
    return checkStart({
      ...{ workload, target, mustAnswer: whoMustAnswer(facts), unproven: whoIsUnproven(facts), fresh: this.fresh() },
      lastWord: (node) => this.lastWord(node),
    });
  }

  fresh(): Report[] {
    return this.reports.fresh(this.store.clusterSettings.detection.freshness);
  }

  /** The node's own fresh report. */
  of(node: string): Report | undefined {
    const age = this.reports.ageMs(node);
    return age !== undefined && age <= this.store.clusterSettings.detection.freshness
      ? this.reports.of(node)?.report
      : undefined;
  }

  /** Another node that says that it runs this; one that is only starting it does not. */
  seenOn(workload: string, but: string): string | undefined {
    const runs = ({ workloads = [] }: Report): boolean =>
      workloads.some((w) => w.name === workload && w.starting !== true);
    return this.fresh().find((r) => r.node !== but && runs(r))?.node;
  }

  /** The registry follows what is seen, unless the node it is seen on is one that nothing may run on. */
  mayFollow(seenOn: string): boolean {
    const { nodes, incidents } = this.store;
    return mayFollowTo(nodes.view.get(seenOn)?.value, incidents.view.live);
  }

  /** What stands against a start of it by the incidents that are on record by now, whoever has written them. */
  async barred(w: WorkloadRecord | undefined): Promise<Bar | undefined> {
    if (!(await showsNow(this.store.incidents))) return { is: 'unseen' };
    const incidents = this.store.incidents.view.entries().map((e) => e.value);
    return w && barOnRecord(w, incidents, (node) => this.of(node) !== undefined);
  }

  /** What a node that does not answer has said last. What it said in another boot than its record's is no word of it. */
  lastWord(node: string): LastWord | undefined {
    const record = this.store.nodes.view.get(node)?.value;
    if (record === undefined) return undefined;
    const heard = this.reports.lastList(node)?.report;
    const lookedAt = this.listedAt(node);
    return {
      ...(heard?.workloads !== undefined && heard.bootId === record.bootId && { workloads: heard.workloads }),
      mayHaveCome: (workload) =>
        !this.store.workloads.view.live || this.assignments.mayHaveBeenOn(node, workload, lookedAt),
      mayStartByItself: (workload) => !this.store.nodes.view.live || mayStartByItself(record, workload),
    };
  }

  /** The list that a node has given last is of this moment at the earliest, monotonic ms. */
  private listedAt(node: string): number {
    return (this.reports.lastList(node)?.heardAt ?? Infinity) - LATE_LIST_MS;
  }

  private answerFacts(): AnswerFacts {
    const { nodes, incidents, workloads } = this.store;
    return {
      nodes: nodes.view.entries().map((e) => e.value),
      incident: (node) => incidents.view.get(node)?.value,
      speaks: (node) => this.of(node) !== undefined,
      workloads: () => workloads.view.entries().map((e) => e.value),
    };
  }
}
