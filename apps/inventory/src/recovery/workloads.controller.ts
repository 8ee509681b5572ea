import { Controller } from '@nestjs/common';
import { Rpc } from '#service';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { AuditService } from '../store/audit.service.js';
import { page } from '../store/page.js';
import { MayStartService } from './may-start.service.js';
import { WorkloadService } from './workload.service.js';

@Controller()
export class WorkloadsController {
  constructor(
    private readonly workloads: WorkloadService,
    private readonly starts: MayStartService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.workloads.list')
  list(q: RpcRequest<'inventory.workloads.list'>): RpcAnswer<'inventory.workloads.list'> {
    return page(this.workloads.list(), q, (w) => w.name);
  }

  @Rpc('inventory.workloads.get')
  get(q: RpcRequest<'inventory.workloads.get'>): Promise<RpcAnswer<'inventory.workloads.get'>> {
    return this.workloads.get(q.name);
  }

  @Rpc('inventory.workloads.put')
  put(q: RpcRequest<'inventory.workloads.put'>): Promise<RpcAnswer<'inventory.workloads.put'>> {
    const on = q.workload.node === undefined ? '' : `on ${q.workload.node}`;
    return this.audit.of(q.by, 'workload-put', q.name, on, () => this.workloads.put(q));
  }

  @Rpc('inventory.workloads.delete')
  delete(q: RpcRequest<'inventory.workloads.delete'>): Promise<RpcAnswer<'inventory.workloads.delete'>> {
    return this.audit.of(q.by, 'workload-delete', q.name, '', () => this.workloads.delete(q));
  }

  @Rpc('inventory.workloads.mayStart')
  mayStart(q: RpcRequest<'inventory.workloads.mayStart'>): Promise<RpcAnswer<'inventory.workloads.mayStart'>> {
    return this.starts.ask(q);
  }
}
