import { Controller } from '@nestjs/common';
import { Rpc } from '#service';
import { masked, type RpcAnswer, type RpcRequest, type WithRevision, type WorkloadRecord } from '#contracts';
import { AuditService } from '../store/audit.service.js';
import { page } from '../store/page.js';
import { MayStartService } from './may-start.service.js';
import { StandingService } from './standing.service.js';
import { WorkloadService } from './workload.service.js';

/** Whoever may look at workloads is not yet one who may know what they are started with. */
const shown = <T extends WithRevision<WorkloadRecord>>(w: T): T => ({
  ...w,
  recovery: { ...w.recovery, spec: masked(w.recovery.spec) },
});

@Controller()
export class WorkloadsController {
  constructor(
    private readonly workloads: WorkloadService,
    private readonly starts: MayStartService,
    private readonly standing: StandingService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.workloads.list')
  list(q: RpcRequest<'inventory.workloads.list'>): RpcAnswer<'inventory.workloads.list'> {
    const { items, ...rest } = page(this.workloads.list(), q, (w) => w.name);
    const standingOf = this.standing.snapshot();
    return { ...rest, items: items.map((w) => ({ ...shown(w), actual: standingOf(w) })) };
  }

  @Rpc('inventory.workloads.get')
  async get(q: RpcRequest<'inventory.workloads.get'>): Promise<RpcAnswer<'inventory.workloads.get'>> {
    return shown(this.standing.view(await this.workloads.get(q.name)));
  }

  @Rpc('inventory.workloads.put')
  async put(q: RpcRequest<'inventory.workloads.put'>): Promise<RpcAnswer<'inventory.workloads.put'>> {
    const on = q.workload.node === undefined ? '' : `on ${q.workload.node}`;
    return shown(await this.audit.of(q, 'workload-put', q.name, on, () => this.workloads.put(q)));
  }

  @Rpc('inventory.workloads.delete')
  delete(q: RpcRequest<'inventory.workloads.delete'>): Promise<RpcAnswer<'inventory.workloads.delete'>> {
    return this.audit.of(q, 'workload-delete', q.name, q.reason ?? '', () => this.workloads.delete(q));
  }

  @Rpc('inventory.workloads.mayStart')
  mayStart(q: RpcRequest<'inventory.workloads.mayStart'>): Promise<RpcAnswer<'inventory.workloads.mayStart'>> {
    return this.starts.ask(q);
  }
}
