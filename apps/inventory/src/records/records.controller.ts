import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { RecordsService } from './records.service.js';

@Controller()
export class RecordsController {
  constructor(
    private readonly records: RecordsService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.records.list')
  list(): RpcAnswer<'inventory.records.list'> {
    return { items: this.records.list() };
  }

  @Rpc('inventory.records.delete')
  async delete(q: RpcRequest<'inventory.records.delete'>): Promise<RpcAnswer<'inventory.records.delete'>> {
    await this.audit.of(q, 'record-delete', `${q.bucket}/${q.key}`, q.reason, () =>
      this.records.delete(q.bucket, q.key),
    );
    return {};
  }
}
