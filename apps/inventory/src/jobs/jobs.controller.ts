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
    return this.audit.of(q, 'cancel', q.id, `job ${q.id}`, () => this.jobs.cancel(q.id, q.by));
  }
}
