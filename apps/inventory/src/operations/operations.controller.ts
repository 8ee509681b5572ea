import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { OperationsService } from './operations.service.js';

@Controller()
export class OperationsController {
  constructor(
    private readonly operations: OperationsService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.operations.submit')
  submit(q: RpcRequest<'inventory.operations.submit'>): Promise<RpcAnswer<'inventory.operations.submit'>> {
    const what = [...(q.nodes ?? []), ...(q.addresses ?? [])].join(' ');
    const subject = q.service === undefined ? what : `${q.service} on ${what}`;
    const detail = q.hostGroup === undefined ? subject : `${subject} as ${q.hostGroup}`;
    return this.audit.ofStored(q, q.kind, q.nodes?.[0] ?? q.kind, detail, async () => {
      const { id, skipped } = await this.operations.submit(q);
      return { job: id, ...(skipped && { skipped }) };
    });
  }
}
