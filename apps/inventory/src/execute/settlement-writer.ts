import { Injectable } from '@nestjs/common';
import { MusterError, type JobRecord } from '#contracts';
import type { CheckVerdict } from '#domain/return/check-verdict.js';
import { NodeService } from '../nodes/node.service.js';
import { ReservationBook } from '../operations/reservation-book.js';
import type { EndedJob, Moment, NodeAfterJob } from '../plan/intent.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import type { Right } from './written.js';

/** Writes what an ended job leaves, in the order that its intent names. */
@Injectable()
export class SettlementWriter {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly book: ReservationBook,
  ) {}

  async write(end: EndedJob, at: Moment, c: Right): Promise<void> {
    const { job, found, release } = end;
    let nodesAt = 0;
    const verdicts = new Map<string, CheckVerdict>();
    await inParallel(job.nodes, async (name) => {
      const { revision, verdict } = await this.settleNode(name, end, c);
      nodesAt = Math.max(nodesAt, revision);
      if (verdict) verdicts.set(name, verdict);
    });
    for (const { key, decide } of found)
      await this.nodes.change(key, (now) => {
        c.check();
        return decide(now, at);
      });
    if (release !== undefined)
      await this.book.tidy((now) => {
        c.check();
        return release(now, nodesAt);
      });
    await this.store.jobs.bucket.mutate(job.id, (now) => {
      c.check();
      return now && end.settled(now.value, verdicts);
    });
    if (end.publishesEnd) await this.publishEnd(job);
  }

  /** @returns the node's revision then, 0: it is gone; and what a check says of it */
  private async settleNode(
    name: string,
    { job, node }: EndedJob,
    c: Right,
  ): Promise<Pick<NodeAfterJob, 'verdict'> & { revision: number }> {
    let after: NodeAfterJob | undefined;
    let revision: number;
    try {
      ({ revision } = await this.nodes.change(name, (now) => {
        c.check();
        after = node(now);
        return after.next;
      }));
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code !== 'NODE_UNKNOWN') throw error;
      this.store.bus.log.warn({ node: name, job: job.id }, 'a node of an ended job was deleted meanwhile');
      return { revision: 0, verdict: undefined };
    }
    for (const { kind, data } of after?.events ?? [])
      await this.store.bus.emit(kind, name, data, { id: `${job.id}.${name}.${kind}` });
    return { revision, verdict: after?.verdict };
  }

  private async publishEnd({ id, kind, status, nodes, task, error }: JobRecord): Promise<void> {
    await this.store.bus.emit('job', id, { job: id, kind, status, nodes, task, error }, { id: `job.${id}.settled` });
  }
}
