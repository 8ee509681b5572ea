import { Injectable } from '@nestjs/common';
import {
  isEndedJob,
  managementAddress,
  MusterError,
  RESERVATIONS_KEY,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { applyMonitorEvent } from '../node-state/monitor-event.js';
import { NodeService } from '../nodes/node.service.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { heldBy, release } from '../operations/reservations.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { checkVerdict, type CheckVerdict } from '../nodes/check-verdict.js';
import { settle, type SettleFacts, type Settlement } from '../plan/jobs/settle.js';

/**
 * Ended jobs become node records: first every node, then the reservation, then `settled` on the job. Whatever a crash
 * leaves half done is done again from the start; `lastJob` on the node keeps a result from being applied twice.
 */
@Injectable()
export class JobSettlementReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly book: ReservationBook,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const ended = this.store.jobs.view.entries().filter((e) => isEndedJob(e.value) && !e.value.settled);
    // No two of them hold the same node.
    await inParallel(ended, (e) => this.settleJob(e.value, c));
  }

  private async settleJob(seen: JobRecord, c: TaskRun): Promise<void> {
    const job = (await this.store.jobs.bucket.get(seen.id))?.value;
    if (!job || job.settled || !isEndedJob(job)) return;
    let nodesAt = 0;
    const verdicts = new Map<string, CheckVerdict>();
    await inParallel(job.nodes, async (name) => {
      c.check();
      const { revision, verdict } = await this.settleNode(name, job);
      nodesAt = Math.max(nodesAt, revision);
      if (verdict) verdicts.set(name, verdict);
    });
    if (job.kind === 'discover') await this.rediscover(job, c);
    c.check();
    await this.release(job, nodesAt);
    c.check();
    await this.store.jobs.bucket.mutate(job.id, (current) =>
      current && !current.value.settled ? settled(current.value, verdicts) : undefined,
    );
    // A job with a worker was told by it; one that was cancelled while it waited has nobody else.
    if (job.worker !== undefined) return;
    const { id, kind, status, nodes, task, error } = job;
    await this.store.bus.emit('job', id, { job: id, kind, status, nodes, task, error }, { id: `job.${id}.settled` });
  }

  /** @returns the node's revision then, 0: it is gone; and what a check says of it */
  private async settleNode(name: string, job: JobRecord): Promise<{ revision: number; verdict?: CheckVerdict }> {
    const at = this.store.clock.wallMs();
    let settlement: Settlement | undefined;
    let revision: number;
    try {
      ({ revision } = await this.nodes.change(name, (node) => {
        settlement = settle(node, job, this.facts(node, at));
        return node.lastJob === job.id ? undefined : settlement.node;
      }));
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code !== 'NODE_UNKNOWN') throw error;
      this.store.bus.log.warn({ node: name, job: job.id }, 'a node of an ended job was deleted meanwhile');
      return { revision: 0 };
    }
    // Told after the write, and again after a crash in between: events are deduplicated by their id.
    if (settlement) await this.tell(name, job, settlement);
    const result = job.kind === 'check' ? job.results[name] : undefined;
    return { revision, ...(settlement && result && { verdict: checkVerdict(settlement.node, result, at) }) };
  }

  /** A node without an agent that had disappeared and answers at its address again: this is its way back. */
  private async rediscover(job: JobRecord, c: TaskRun): Promise<void> {
    const found = (job.addresses ?? []).filter((a) => job.results[a]?.ok);
    for (const { key, value } of this.store.nodes.view.entries()) {
      const addr = managementAddress(value);
      if (value.enrolled || !found.includes(addr)) continue;
      c.check();
      const { label, serial } = value;
      await this.nodes.change(key, (n) =>
        applyMonitorEvent(n, 'discovered', { label, serial, addr }, this.store.clock.wallMs()),
      );
    }
  }

  private async tell(name: string, job: JobRecord, s: Settlement): Promise<void> {
    for (const e of s.events) await this.store.bus.emit(e.kind, name, e.data, { id: `${job.id}.${name}.${e.kind}` });
  }

  private async release(job: JobRecord, nodesAt: number): Promise<void> {
    const held = this.store.reservations.view.get(RESERVATIONS_KEY)?.value;
    if (job.kind === 'recover' && held && heldBy(held, job.id).length === 0) return;
    await this.book.tidy((r) => release(r, job.id, nodesAt));
  }

  private facts(node: NodeRecord, at: number): SettleFacts {
    const group = this.store.clusterSettings.hostGroups.find((g) => g.name === node.hostGroup);
    return { onReturn: group?.onReturn ?? 'resetup', at };
  }
}

/** Its nodes have followed; each check says what it has found. */
function settled(job: JobRecord, verdicts: ReadonlyMap<string, CheckVerdict>): JobRecord {
  const results = { ...job.results };
  for (const [node, { outcome, why }] of verdicts)
    if (results[node] !== undefined) results[node] = { ...results[node], verdict: { outcome, why } };
  return { ...job, results, settled: true };
}
