import { Injectable } from '@nestjs/common';
import { isEndedJob, MusterError, RESERVATIONS_KEY, type JobRecord, type NodeRecord } from '#contracts';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { applyMonitorEvent } from '../monitor/monitor-event.js';
import { NodeService } from '../nodes/node.service.js';
import { managementAddress } from '../operations/admission.js';
import { heldBy, release } from '../operations/reservations.js';
import { InventoryStore } from '../store/inventory-store.js';
import { settle, type SettleFacts, type Settlement } from './settle.js';

/**
 * Ended jobs become node records: first every node, then the reservation, then `settled` on the job. Whatever a crash
 * leaves half done is done again from the start; `lastJob` on the node keeps a result from being applied twice.
 */
@Injectable()
export class JobSettlementReconciler implements Reconciler {
  readonly name = 'job-settlement';

  constructor(
    conductor: ConductorService,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
    for (const { value: job } of this.store.jobs.view.entries())
      if (isEndedJob(job) && !job.settled) await this.settleJob(job, c);
  }

  private async settleJob(seen: JobRecord, c: ConductorView): Promise<void> {
    const job = (await this.store.jobs.bucket.get(seen.id))?.value;
    if (!job || job.settled || !isEndedJob(job)) return;
    for (const name of job.nodes) {
      c.check();
      await this.settleNode(name, job);
    }
    if (job.kind === 'discover') await this.rediscover(job, c);
    c.check();
    await this.release(job);
    c.check();
    await this.store.jobs.bucket.mutate(job.id, (current) =>
      current && !current.value.settled ? { ...current.value, settled: true } : undefined,
    );
    // A job with a worker was told by it; one that was cancelled while it waited has nobody else.
    if (job.worker !== undefined) return;
    const { id, kind, status, nodes, task, error } = job;
    await this.store.bus.emit('job', id, { job: id, kind, status, nodes, task, error }, { id: `job.${id}.settled` });
  }

  private async settleNode(name: string, job: JobRecord): Promise<void> {
    let settlement: Settlement | undefined;
    try {
      await this.nodes.change(name, (node) => {
        settlement = settle(node, job, this.facts(node));
        return node.lastJob === job.id ? undefined : settlement.node;
      });
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code !== 'NODE_UNKNOWN') throw error;
      this.store.bus.log.warn({ node: name, job: job.id }, 'a node of an ended job was deleted meanwhile');
      return;
    }
    // Told after the write, and again after a crash in between: events are deduplicated by their id.
    if (settlement) await this.tell(name, job, settlement);
  }

  /** A node without an agent that had disappeared and answers at its address again: this is its way back. */
  private async rediscover(job: JobRecord, c: ConductorView): Promise<void> {
    const found = (job.addresses ?? []).filter((a) => job.results[a]?.ok);
    for (const { key, value } of this.store.nodes.view.entries()) {
      const addr = managementAddress(value);
      if (value.enrolled || !found.includes(addr)) continue;
      c.check();
      const { label, serial } = value;
      await this.nodes.change(key, (n) => applyMonitorEvent(n, 'discovered', { label, serial, addr }, Date.now()));
    }
  }

  private async tell(name: string, job: JobRecord, s: Settlement): Promise<void> {
    for (const e of s.events) await this.store.bus.emit(e.kind, name, e.data, { id: `${job.id}.${name}.${e.kind}` });
  }

  private async release(job: JobRecord): Promise<void> {
    const held = this.store.reservations.view.get(RESERVATIONS_KEY)?.value;
    if (job.kind === 'recover' && held && heldBy(held, job.id).length === 0) return;
    await this.store.reservations.bucket.mutate(RESERVATIONS_KEY, (current) =>
      current ? release(current.value, job.id) : undefined,
    );
  }

  private facts(node: NodeRecord): SettleFacts {
    const group = this.store.clusterSettings.hostGroups.find((g) => g.name === node.hostGroup);
    const workloads = this.store.workloads.view
      .entries()
      .filter((e) => e.value.assignment?.node === node.name)
      .map((e) => e.key);
    return { onReturn: group?.onReturn ?? 'resetup', workloads, at: Date.now() };
  }
}
