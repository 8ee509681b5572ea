import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { JobsService } from './jobs.service.js';

@Controller()
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.jobs.list')
  list(q: RpcRequest<'inventory.jobs.list'>): RpcAnswer<'inventory.jobs.list'> {
    return this.jobs.list(q);
  }

  @Rpc('inventory.jobs.get')
  get(q: RpcRequest<'inventory.jobs.get'>): Promise<RpcAnswer<'inventory.jobs.get'>> {
    return this.jobs.get(q.id);
  }

  @Rpc('inventory.jobs.cancel')
  cancel(q: RpcRequest<'inventory.jobs.cancel'>): Promise<RpcAnswer<'inventory.jobs.cancel'>> {
    const audited = (id: string, act: () => Promise<RpcAnswer<'inventory.jobs.cancel'>>) =>
      this.audit.of(q, 'cancel', id, `job ${id}`, act);
    return this.jobs.cancellable(q.id).then(
      (id) => audited(id, () => this.jobs.cancel(id, q.by)),
      (refusal: Error) => audited(q.id, () => Promise.reject(refusal)),
    );
  }
}
