import { Controller } from '@nestjs/common';
import { Rpc } from '#service';
import { isOpenIncident, type RpcAnswer, type RpcRequest } from '#contracts';
import { AuditService, auditReason } from '../store/audit.service.js';
import { page } from '../store/page.js';
import { FencingSettingsService } from './fencing-settings.service.js';
import { IncidentService } from './incident.service.js';
import { OperatorOrders } from './operator-orders.service.js';
import { RecheckService } from './recheck.service.js';
import { StormsService } from './storms.service.js';

@Controller()
export class IncidentsController {
  constructor(
    private readonly incidents: IncidentService,
    private readonly orders: OperatorOrders,
    private readonly rechecks: RecheckService,
    private readonly fencing: FencingSettingsService,
    private readonly storms: StormsService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.incidents.list')
  list(q: RpcRequest<'inventory.incidents.list'>): RpcAnswer<'inventory.incidents.list'> {
    return page(this.incidents.list(q.open), q, (i) => i.node);
  }

  @Rpc('inventory.incidents.get')
  async get(q: RpcRequest<'inventory.incidents.get'>): Promise<RpcAnswer<'inventory.incidents.get'>> {
    const incident = await this.incidents.get(q.node);
    const storms = isOpenIncident(incident) ? this.storms.holding(q.node) : [];
    return { ...incident, ...(storms.length > 0 && { storms }) };
  }

  @Rpc('inventory.incidents.release')
  release(q: RpcRequest<'inventory.incidents.release'>): Promise<RpcAnswer<'inventory.incidents.release'>> {
    return this.audit.of(q, 'release', q.node, auditReason(q), () => this.orders.release(q));
  }

  @Rpc('inventory.incidents.confirm')
  confirm(q: RpcRequest<'inventory.incidents.confirm'>): Promise<RpcAnswer<'inventory.incidents.confirm'>> {
    return this.audit.of(q, 'confirm', q.node, auditReason(q), () => this.orders.confirm(q));
  }

  @Rpc('inventory.incidents.cancel')
  cancel(q: RpcRequest<'inventory.incidents.cancel'>): Promise<RpcAnswer<'inventory.incidents.cancel'>> {
    return this.audit.of(q, 'cancel', q.node, q.reason, () => this.orders.cancel(q));
  }

  @Rpc('inventory.incidents.recheck')
  recheck(q: RpcRequest<'inventory.incidents.recheck'>): Promise<RpcAnswer<'inventory.incidents.recheck'>> {
    return this.rechecks.recheck(q);
  }

  @Rpc('inventory.nodes.fence')
  fence(q: RpcRequest<'inventory.nodes.fence'>): Promise<RpcAnswer<'inventory.nodes.fence'>> {
    if (q.dryRun === true) return this.orders.fence(q);
    return this.audit.of(q, 'fence', q.name, q.reason, () => this.orders.fence(q));
  }

  @Rpc('inventory.fencing.put')
  putFencing(q: RpcRequest<'inventory.fencing.put'>): Promise<RpcAnswer<'inventory.fencing.put'>> {
    const detail = `mode ${q.mode}${q.paused === undefined ? '' : ', paused'}`;
    return this.audit.of(q, 'fencing', 'fencing', detail, () => this.fencing.put(q));
  }
}
