import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { enrolledName } from './enrolment.js';
import { EnrolmentService } from './enrolment.service.js';

@Controller()
export class AgentsController {
  constructor(
    private readonly enrolment: EnrolmentService,
    private readonly audit: AuditService,
  ) {}

  /** A provisioner's alone: no other service may call it. */
  @Rpc('inventory.agents.enrol')
  enrol(q: RpcRequest<'inventory.agents.enrol'>): Promise<RpcAnswer<'inventory.agents.enrol'>> {
    const { by, ...request } = q;
    const name = enrolledName(request);
    const at = Object.entries(request.networks).map(([network, { address }]) => `${network} ${address}`);
    return this.audit.of(by, 'agent-enrol', name, `${name} at ${at.join(', ')}`, () => this.enrolment.enrol(request));
  }
}
