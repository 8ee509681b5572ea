import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { AlarmService, shownAlarm } from './alarm.service.js';

@Controller()
export class AlarmsController {
  constructor(
    private readonly alarms: AlarmService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.alarms.list')
  list(q: RpcRequest<'inventory.alarms.list'>): RpcAnswer<'inventory.alarms.list'> {
    return { items: this.alarms.list(q.all === true).map(shownAlarm) };
  }

  @Rpc('inventory.alarms.ack')
  async ack(q: RpcRequest<'inventory.alarms.ack'>): Promise<RpcAnswer<'inventory.alarms.ack'>> {
    const detail = q.note === undefined ? `alarm ${q.id}` : `alarm ${q.id}: ${q.note}`;
    return shownAlarm(await this.audit.of(q, 'ack', q.id, detail, () => this.alarms.acknowledge(q.id, q.by, q.note)));
  }
}
