import { Controller } from '@nestjs/common';
import { Rpc } from '#service';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { AuditService, auditReason } from '../store/audit.service.js';
import { StormsService } from './storms.service.js';

@Controller()
export class StormsController {
  constructor(
    private readonly storms: StormsService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.storms.list')
  list(): RpcAnswer<'inventory.storms.list'> {
    return { items: this.storms.list() };
  }

  @Rpc('inventory.storms.get')
  get(q: RpcRequest<'inventory.storms.get'>): RpcAnswer<'inventory.storms.get'> {
    return this.storms.get(q.id);
  }

  @Rpc('inventory.storms.release')
  release(q: RpcRequest<'inventory.storms.release'>): Promise<RpcAnswer<'inventory.storms.release'>> {
    return this.audit.of(q, 'storm-release', q.id, auditText(q), () => this.storms.release(q));
  }

  @Rpc('inventory.storms.confirm')
  confirm(q: RpcRequest<'inventory.storms.confirm'>): Promise<RpcAnswer<'inventory.storms.confirm'>> {
    return this.audit.of(q, 'storm-confirm', q.id, auditText(q), () => this.storms.confirm(q));
  }
}

const auditText = (q: { nodes?: string[]; reason: string; force?: boolean }): string =>
  q.nodes === undefined ? auditReason(q) : `${q.nodes.join(', ')}: ${auditReason(q)}`;
