import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { isSettledJob, MusterError, type NodeRecord, type WorkloadRecord } from '#contracts';
import {
  isUnseenReturn,
  returnStep,
  type ReturnStep,
  type ReturnView,
  type WorkThere,
} from '#domain/return/return-table.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { NodeService } from '../nodes/node.service.js';
import { OperationsService } from '../operations/operations.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { InventoryStore } from '../store/inventory-store.js';
import { FlapWatch } from './flap-watch.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { unanswered } from '#domain/return/return.js';
import { failedTries } from './return-retries.js';
import { workThere } from './work-there.js';

/** Returns that are dealt with at once: a rack that comes back must not stop everything else. */
export const RETURNS_AT_ONCE = 4;

/**
 * Drives every pending return to its end: a check, after it the re-setup where the check found something. What it
 * starts is an ordinary job, so that the same rules and the same audit hold.
 */
@Injectable()
export class ReturnReconciler implements Reconciler {
  /** Node → monotonic time of the earliest next try of a check that could not be carried out. */
  private readonly notBefore = new Map<string, number>();
  /** The same of a job that was refused. */
  private readonly refusedUntil = new Map<string, number>();
  /** Node → its return, and how its checks have failed. */
  private readonly tried = new Map<string, string>();
  /** Since when a returned node has named nothing, or has not said what it runs. */
  private readonly since: AgeBook;

  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly operations: OperationsService,
    private readonly quarantine: PowerQuarantine,
    private readonly flaps: FlapWatch,
    private readonly facts: StartFactsService,
  ) {
    this.since = new AgeBook(store.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    await this.findUnseen(c);
    const due = this.store.nodes.view
      .entries()
      .map((e) => e.value)
      .filter((n) => n.pendingReturn !== undefined)
      .sort((a, b) => (a.pendingReturn?.at ?? 0) - (b.pendingReturn?.at ?? 0));
    const kept = new Set(due.map(sinceKey));
    this.since.retain((key) => kept.has(`${key.split('/', 2).join('/')}/`));
    const assigned = assignedByNode(due.length === 0 ? [] : this.workloads());
    for (const n of due) this.noteWord(n, assigned.get(n.name) ?? []);
    let free = RETURNS_AT_ONCE - this.running();
    for (const n of due) {
      this.noteFailedTry(n, c.now);
      const step = returnStep(n, this.look(n, c.now, assigned.get(n.name) ?? []));
      if (step.do === 'hold' || step.do === 'lift') {
        c.check();
        await this.write(n, step);
      } else if (step.do !== 'wait' && free > 0 && (await this.start(n, step.do, c))) free -= 1;
    }
  }

  private async findUnseen(c: TaskRun): Promise<void> {
    for (const { value: n } of this.store.nodes.view.entries()) {
      if (n.maintenance === undefined || n.pendingReturn !== undefined) continue;
      if (!isUnseenReturn(n, this.look(n, c.now))) continue;
      c.check();
      await this.nodes.change(n.name, (node) =>
        node.maintenance !== undefined && node.pendingReturn === undefined && node.state === 'Discovered'
          ? { ...node, pendingReturn: { reason: 'disappeared', at: this.store.clock.wallMs() } }
          : undefined,
      );
    }
  }

  private look(n: NodeRecord, now: number, assigned?: WorkloadRecord[]): ReturnView {
    const unknown = `${sinceKey(n)}unknown`;
    return {
      incident: this.store.incidents.view.get(n.name)?.value.phase,
      reserved: this.isTaken(n.name),
      quarantined: this.quarantine.reason(n.name) !== undefined,
      returns: this.flaps.count(n.name),
      flaps: this.store.clusterSettings.fencing.storm.flaps,
      waitMs: Math.max(this.notBefore.get(n.name) ?? 0, this.refusedUntil.get(n.name) ?? 0) - now,
      work: () => this.workOn(n, assigned),
      unknownMs: this.since.ageMs(unknown),
    };
  }

  /** Each round anew, since its gate was shut by this return: what was not seen in between is as young as can be. */
  private noteWord(n: NodeRecord, assigned: WorkloadRecord[]): void {
    const report = this.facts.of(n.name);
    const empty = emptyKey(n, report?.bootId);
    if (report?.workloads?.length === 0) this.since.see(empty);
    else this.since.forget(empty);
    const unknown = `${sinceKey(n)}unknown`;
    if (n.pendingReturn?.next === 'resetup' && this.workOn(n, assigned).kind === 'unknown') this.since.see(unknown);
    else this.since.forget(unknown);
  }

  /** @param assigned to it; as of now where it is left out */
  private workOn(n: NodeRecord, assigned = this.workloads().filter((w) => w.assignment?.node === n.name)): WorkThere {
    const report = this.facts.of(n.name);
    return workThere({
      node: n,
      assigned,
      report,
      emptyForMs: this.since.ageMs(emptyKey(n, report?.bootId)),
      freshness: this.store.clusterSettings.detection.freshness,
    });
  }

  private workloads(): WorkloadRecord[] {
    return this.store.workloads.view.entries().map((e) => e.value);
  }

  /** The view may be behind what the admission has read: what it does not show is not known to be absent. */
  private isAbsent(n: NodeRecord, workload: string): boolean {
    const at = this.store.workloads.view.get(workload)?.value.assignment?.node;
    return at === n.name && this.workOn(n).kind === 'none';
  }

  private noteFailedTry(n: NodeRecord, now: number): void {
    const { tries, waitMs } = failedTries(n.pendingReturn);
    const { failedTries: failed = 0, unreached } = n.pendingReturn ?? {};
    const tried = `${sinceKey(n)}${failed}/${unreached?.tries ?? 0}`;
    if (this.tried.get(n.name) === tried) return;
    this.tried.set(n.name, tried);
    if (tries === 0) this.notBefore.delete(n.name);
    else this.notBefore.set(n.name, now + waitMs);
  }

  /** By a job or an edit. A claimed node is checked and set up like any other: its scheduler waits for that. */
  private isTaken(node: string): boolean {
    const hold = this.store.held[node];
    return hold?.job !== undefined || hold?.edit !== undefined;
  }

  private running(): number {
    return this.store.jobs.view.entries().filter((e) => e.value.cause === 'return' && !isSettledJob(e.value)).length;
  }

  /** @returns whether a job was started */
  private async start(n: NodeRecord, kind: 'check' | 'resetup', c: TaskRun): Promise<boolean> {
    const services = kind === 'resetup' ? n.pendingReturn?.only : undefined;
    try {
      await this.operations.submit(
        { by: 'muster', kind, nodes: [n.name] },
        {
          cause: 'return',
          check: () => c.check(),
          ...(services !== undefined && { services }),
          // What another check has found since may take the whole way.
          needs: (now) =>
            returnStep(now, this.look(now, c.now)).do === kind &&
            (kind === 'check' || isDeepStrictEqual(now.pendingReturn?.only, services)),
          isAbsent: (node, workload) => node === n.name && this.isAbsent(n, workload),
        },
      );
      return true;
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code === 'LEASE_LOST') throw error;
      // Somebody was faster, or no worker is alive: the next round looks again, and the driver alarm tells of the latter.
      this.refusedUntil.set(n.name, c.now + 1000);
      this.store.bus.log.debug({ node: n.name, kind, code: error.code }, `not yet: ${error.message}`);
      return false;
    }
  }

  private async write(n: NodeRecord, step: Extract<ReturnStep, { do: 'hold' | 'lift' }>): Promise<void> {
    await this.nodes.change(n.name, (node) => {
      const p = node.pendingReturn;
      if (!p || p.at !== n.pendingReturn?.at || p.held !== n.pendingReturn.held) return undefined;
      if (step.do === 'lift') return { ...node, pendingReturn: unanswered(p) };
      const heldBy = step.by === undefined ? {} : { heldBy: step.by };
      return { ...node, pendingReturn: { ...unanswered(p), held: step.why, ...heldBy } };
    });
  }
}

function assignedByNode(all: readonly WorkloadRecord[]): Map<string, WorkloadRecord[]> {
  const byNode = new Map<string, WorkloadRecord[]>();
  for (const w of all) {
    const node = w.assignment?.node;
    if (node !== undefined) byNode.set(node, [...(byNode.get(node) ?? []), w]);
  }
  return byNode;
}

const sinceKey = (n: NodeRecord): string => `${n.name}/${n.pendingReturn?.at ?? 0}/`;
const emptyKey = (n: NodeRecord, boot: string | undefined): string => `${sinceKey(n)}empty/${boot ?? ''}`;
