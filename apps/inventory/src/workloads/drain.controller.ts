import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc, ServiceContext } from '#service';
import { cordoned } from '../nodes/cordon.js';
import { NodeService } from '../nodes/node.service.js';
import { ServiceView } from '../nodes/service-view.js';
import { AuditService } from '../store/audit.service.js';

/** A drain is a cordon that says so; the conductor sees it and moves what runs there. An uncordon ends both. */
@Controller()
export class DrainController {
  constructor(
    private readonly context: ServiceContext,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.nodes.drain')
  drain(q: RpcRequest<'inventory.nodes.drain'>): Promise<RpcAnswer<'inventory.nodes.drain'>> {
    return this.audit.of(q, 'drain', q.name, q.reason, async () => {
      const cordon = cordoned(q, true, this.context.clock.wallMs());
      const { node, revision } = await this.nodes.change(q.name, (n) => ({ ...n, cordon }));
      return this.service.view({ key: node.name, value: node, revision });
    });
  }
}
