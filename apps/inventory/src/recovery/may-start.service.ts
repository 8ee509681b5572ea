import { Injectable } from '@nestjs/common';
import { RESERVATIONS_KEY, waitsForMoves, type Reservations, type RpcAnswer, type RpcRequest } from '#contracts';
import { cleansUp } from '../operations/admission.js';
import { InventoryStore } from '../store/inventory-store.js';
import { StartFactsService } from './start-facts.js';
import { askStartGate } from './start-gate.js';
import { corrected } from './workload-machine.js';
import { WorkloadService } from './workload.service.js';

type Answer = RpcAnswer<'inventory.workloads.mayStart'>;

/** The last look before a provisioner starts a workload on a node. */
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
    if (cleanup !== undefined)
      return { allowed: false, reason: `Held: ${cleanup} cleans up ${q.node}, and was admitted before this start.` };
    const gate = askStartGate({
      node: q.node,
      workload: workload?.value,
      record: record?.value,
      incident: incident?.value,
      boot: this.facts.of(q.node)?.bootId,
    });
    if (!gate.allowed) return { allowed: false, reason: gate.reason };
    if (gate.generation !== q.generation)
      return { allowed: false, reason: `Generation ${q.generation} is no longer current: it is ${gate.generation}.` };
    const check = this.facts.check(q.workload, q.node);
    if (check.kind === 'elsewhere' && !this.facts.mayFollow(check.node))
      return {
        allowed: false,
        reason: `Held: ${check.node} says that it runs it, and counts as powered off or is not enrolled.`,
      };
    if (check.kind === 'elsewhere' && workload?.value.move?.from === check.node)
      return { allowed: false, reason: `Held: ${check.node}, which it has left, still names it.` };
    if (check.kind === 'elsewhere') {
      await this.workloads.change(q.workload, 'assigned', (w) =>
        corrected(w, check.node, q.generation, check.generation),
      );
      return { allowed: false, reason: `It runs on ${check.node}: the registry was corrected.` };
    }
    if (check.kind === 'unknown')
      return { allowed: false, reason: `Held: ${check.nodes.join(', ')} did not say what they run.` };
    return { allowed: true, reason: check.kind === 'there' ? 'It runs there already.' : gate.reason };
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
