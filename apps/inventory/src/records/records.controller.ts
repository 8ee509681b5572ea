import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { AuditService, auditReason } from '../store/audit.service.js';
import { hostSubject } from './host-alarms.js';
import { brokenAlarm } from './nats-tls.js';
import { RecordsService } from './records.service.js';

@Controller()
export class RecordsController {
  constructor(
    private readonly records: RecordsService,
    private readonly audit: AuditService,
    private readonly alarms: AlarmService,
  ) {}

  @Rpc('inventory.records.list')
  list(): RpcAnswer<'inventory.records.list'> {
    return { items: this.records.list() };
  }

  @Rpc('inventory.records.delete')
  async delete(q: RpcRequest<'inventory.records.delete'>): Promise<RpcAnswer<'inventory.records.delete'>> {
    await this.audit.of(q, 'record-delete', `${q.bucket}/${q.key}`, auditReason(q), () =>
      this.records.delete(q.bucket, q.key, q),
    );
    return {};
  }

  /** By a gateway, at its start and whenever it changes. */
  @Rpc('inventory.records.certificate')
  async certificate(
    q: RpcRequest<'inventory.records.certificate'>,
  ): Promise<RpcAnswer<'inventory.records.certificate'>> {
    if (q.why === undefined) await this.alarms.clear('certificate-broken', hostSubject(q.owner, q.host));
    else {
      const { code, subject, severity, message } = brokenAlarm(q.owner, q.why, q.host);
      await this.alarms.raise(code, subject, severity, message);
    }
    return {};
  }
}
