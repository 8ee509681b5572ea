import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { AlarmService } from './alarm.service.js';

@Controller()
export class AlarmsController {
  constructor(
    private readonly alarms: AlarmService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.alarms.list')
  list(q: RpcRequest<'inventory.alarms.list'>): RpcAnswer<'inventory.alarms.list'> {
    return { items: this.alarms.list(q.all === true) };
  }

  @Rpc('inventory.alarms.ack')
  ack(q: RpcRequest<'inventory.alarms.ack'>): Promise<RpcAnswer<'inventory.alarms.ack'>> {
    return this.audit.of(q.by, 'ack', q.id, `alarm ${q.id}`, () => this.alarms.acknowledge(q.id, q.by));
  }
}
