import { Injectable } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
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
    const [workload, record, incident] = await Promise.all([
      this.store.workloads.bucket.get(q.workload),
      this.store.nodes.bucket.get(q.node),
      this.store.incidents.bucket.get(q.node),
    ]);
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
      return { allowed: false, reason: `Held: ${check.node} says that it runs it, and counts as powered off.` };
    if (check.kind === 'elsewhere' && workload?.value.move?.from === check.node)
      return { allowed: false, reason: `Held: ${check.node}, which it has left, still names it.` };
    if (check.kind === 'elsewhere') {
      await this.workloads.change(q.workload, 'assigned', (w) => corrected(w, check.node, q.generation));
      return { allowed: false, reason: `It runs on ${check.node}: the registry was corrected.` };
    }
    if (check.kind === 'unknown')
      return { allowed: false, reason: `Held: ${check.nodes.join(', ')} did not say what they run.` };
    return { allowed: true, reason: check.kind === 'there' ? 'It runs there already.' : gate.reason };
  }
}
