import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { ClaimsService } from './claims.service.js';

@Controller()
export class ClaimsController {
  constructor(
    private readonly claims: ClaimsService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.claims.create')
  create(q: RpcRequest<'inventory.claims.create'>): Promise<RpcAnswer<'inventory.claims.create'>> {
    const detail = `${q.count} node(s) for ${q.owner}`;
    return this.audit.of(q, 'claim', q.owner, detail, () => this.claims.create(q));
  }

  @Rpc('inventory.claims.list')
  list(q: RpcRequest<'inventory.claims.list'>): RpcAnswer<'inventory.claims.list'> {
    return this.claims.list(q);
  }

  @Rpc('inventory.claims.get')
  get(q: RpcRequest<'inventory.claims.get'>): Promise<RpcAnswer<'inventory.claims.get'>> {
    return this.claims.get(q.id);
  }

  @Rpc('inventory.claims.delete')
  async delete(q: RpcRequest<'inventory.claims.delete'>): Promise<RpcAnswer<'inventory.claims.delete'>> {
    await this.audit.of(q, 'release-claim', q.id, `claim ${q.id}`, () => this.claims.delete(q.id));
    return {};
  }
}
