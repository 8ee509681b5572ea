import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { TokensService } from './tokens.service.js';

@Controller()
export class TokensController {
  constructor(
    private readonly tokens: TokensService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.tokens.list')
  async list(): Promise<RpcAnswer<'inventory.tokens.list'>> {
    return { items: await this.tokens.list() };
  }

  @Rpc('inventory.tokens.create')
  create(q: RpcRequest<'inventory.tokens.create'>): Promise<RpcAnswer<'inventory.tokens.create'>> {
    const { name, role } = q.token;
    return this.audit.of(q, 'token-create', name, role, () => this.tokens.create(q));
  }

  @Rpc('inventory.tokens.delete')
  async delete(q: RpcRequest<'inventory.tokens.delete'>): Promise<RpcAnswer<'inventory.tokens.delete'>> {
    await this.audit.of(q, 'token-delete', q.id, `token ${q.id}`, () => this.tokens.delete(q.id));
    return {};
  }
}
