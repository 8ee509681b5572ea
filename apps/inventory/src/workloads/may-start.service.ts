import { Injectable } from '@nestjs/common';
import { RESERVATIONS_KEY, waitsForMoves, type Reservations, type RpcAnswer, type RpcRequest } from '#contracts';
import { startRefusal } from '#domain/workload/start-decision.js';
import { cleansUp } from '../operations/admission.js';
import { InventoryStore } from '../store/inventory-store.js';
import { StartFactsService } from '../reports/start-facts.js';
import { WorkloadService } from './workload.service.js';

type Answer = RpcAnswer<'inventory.workloads.mayStart'>;

/** The start permission: asked for by a provisioner before it starts a workload on a node. */
@Injectable()
export class MayStartService {
  constructor(
    private readonly store: InventoryStore,
    private readonly workloads: WorkloadService,
    private readonly facts: StartFactsService,
  ) {}

  async ask(q: RpcRequest<'inventory.workloads.mayStart'>): Promise<Answer> {
    const [workload, record, incident, reservations] = await Promise.all([
      this.store.workloads.bucket.get(q.workload),
      this.store.nodes.bucket.get(q.node),
      this.store.incidents.bucket.get(q.node),
      this.store.reservations.bucket.get(RESERVATIONS_KEY),
    ]);
    const cleanup = await this.cleanupOn(q.node, reservations?.value);
    const barred = await this.facts.barred(workload?.value);
    const check = this.facts.check(q.workload, q.node);
    const refused = startRefusal('permission', {
      node: q.node,
      workload: workload?.value,
      record: record?.value,
      incident: incident?.value,
      boot: this.facts.of(q.node)?.bootId,
      generation: q.generation,
      cleanup,
      barred,
      check,
      mayFollow: (seenOn) => this.facts.mayFollow(seenOn),
      startingForMs: () => 0,
    });
    const followed = check.kind === 'elsewhere' ? check.generation : undefined;
    if (refused?.code === 'RUNS_ELSEWHERE' && check.kind === 'elsewhere' && followed !== undefined)
      await this.workloads.change(q.workload, 'assigned', () => ({
        kind: 'corrected',
        seenOn: check.node,
        generation: q.generation,
        followed,
      }));
    if (refused !== undefined) return { allowed: false, reason: refused.why };
    if (check.kind === 'there') return { allowed: true, reason: 'It runs there already.' };
    return { allowed: true, reason: `Assigned here, generation ${q.generation}.` };
  }

  /**
   * The job that takes away what the start would need. It was admitted in the moment in which the workload was placed:
   * neither saw the other. One that still waits for the workloads to move sees this one too, and has it moved.
   */
  private async cleanupOn(node: string, now: Reservations | undefined): Promise<string | undefined> {
    const hold = now?.held[node];
    if (hold?.job === undefined || hold.kind === undefined || !cleansUp(hold.kind)) return undefined;
    const job = (await this.store.jobs.bucket.get(hold.job))?.value ?? now?.pending[hold.job];
    return job !== undefined && waitsForMoves(job) ? undefined : hold.job;
  }
}
