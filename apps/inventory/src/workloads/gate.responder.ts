import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Subjects, fromToken, type GateAnswer, type GateRequest } from '#contracts';
import { SparseLog, type Closable } from '#bus';
import { askStartGate, type StartReason } from '#domain/workload/start-decision.js';
import { ServiceContext } from '#service';
import { StartFactsService } from '../reports/start-facts.js';
import { InventoryStore } from '../store/inventory-store.js';

/**
 * Answers the start gates of the nodes. The registry is read live: a view that is a moment old could let an old generation
 * start. What other nodes run is known by their reports.
 */
@Injectable()
export class GateResponder implements OnApplicationBootstrap, OnApplicationShutdown {
  private answers: Closable | undefined;
  private readonly refusals = new SparseLog({ burst: 20, every: 30_000 });

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly starts: StartFactsService,
  ) {}

  onApplicationBootstrap(): void {
    this.answers = this.context.bus.answer<GateRequest, GateAnswer>(
      Subjects.gate('*'),
      (q, subject) => this.ask(q, fromToken(subject.slice(Subjects.gate('').length))),
      { queue: 'inventory' },
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.answers?.close();
  }

  /** An agent asks as often as it likes, for whatever it likes to name. */
  private logRefusal(node: string, workload: string, code: StartReason, reason: string): void {
    const leftOut = this.refusals.next(node, this.context.clock.monotonicMs());
    if (leftOut === undefined) return;
    const named = workload.slice(0, 100);
    this.context.log.debug({ node, workload: named, code, reason, leftOut }, 'a start was refused at the gate');
  }

  private async ask(q: GateRequest, node: string): Promise<GateAnswer> {
    if (typeof q?.workload !== 'string' || q.workload.length === 0)
      return { allowed: false, reason: 'The request names no workload.' };
    // The incidents last: what was opened, or came in doubt, while the others were read is then seen.
    const [workload, record] = await Promise.all([
      this.store.workloads.bucket.get(q.workload),
      this.store.nodes.bucket.get(node),
    ]);
    const [incident, barred] = await Promise.all([
      this.store.incidents.bucket.get(node),
      this.starts.barred(workload?.value),
    ]);
    const facts = {
      node,
      workload: workload?.value,
      record: record?.value,
      incident: incident?.value,
      boot: typeof q.bootId === 'string' ? q.bootId : undefined,
      barred,
      seenOn: this.starts.seenOn(q.workload, node),
    };
    const { code, ...answer } = askStartGate(facts, typeof q.generation === 'number' ? q.generation : undefined);
    if (code !== undefined) this.logRefusal(node, q.workload, code, answer.reason);
    return answer;
  }
}
