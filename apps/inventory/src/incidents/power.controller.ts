import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { PowerOrders } from './power-orders.service.js';

@Controller()
export class PowerController {
  constructor(
    private readonly orders: PowerOrders,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.nodes.power')
  act(q: RpcRequest<'inventory.nodes.power'>): Promise<RpcAnswer<'inventory.nodes.power'>> {
    return this.audit.of(q, `power-${q.action}`, q.name, q.reason, () => this.orders.act(q));
  }

  @Rpc('inventory.nodes.drill')
  drill(q: RpcRequest<'inventory.nodes.drill'>): Promise<RpcAnswer<'inventory.nodes.drill'>> {
    return this.audit.of(q, 'drill', q.name, q.reason, () => this.orders.drill(q));
  }
}
