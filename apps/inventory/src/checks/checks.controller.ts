import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { AcceptedDriftService } from './accepted-drift.service.js';

@Controller()
export class ChecksController {
  constructor(
    private readonly drifts: AcceptedDriftService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.nodes.acceptDrift')
  accept(q: RpcRequest<'inventory.nodes.acceptDrift'>): Promise<RpcAnswer<'inventory.nodes.acceptDrift'>> {
    const { name, by, reason, until, check } = q;
    const detail = `${reason}${until === undefined ? '' : ` (until ${new Date(until).toISOString()})`}`;
    return this.audit.of(q, 'drift-accept', name, detail, () => this.drifts.accept(name, { by, reason, until, check }));
  }

  @Rpc('inventory.nodes.withdrawDrift')
  withdraw(q: RpcRequest<'inventory.nodes.withdrawDrift'>): Promise<RpcAnswer<'inventory.nodes.withdrawDrift'>> {
    return this.audit.of(q, 'drift-withdraw', q.name, q.name, () => this.drifts.withdraw(q.name));
  }
}
