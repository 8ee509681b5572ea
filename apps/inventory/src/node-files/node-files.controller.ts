import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { NodeFilesService } from './node-files.service.js';

@Controller()
export class NodeFilesController {
  constructor(
    private readonly files: NodeFilesService,
    private readonly audit: AuditService,
  ) {}

  @Rpc('inventory.nodes.import')
  import(q: RpcRequest<'inventory.nodes.import'>): Promise<RpcAnswer<'inventory.nodes.import'>> {
    const act = (): Promise<RpcAnswer<'inventory.nodes.import'>> => this.files.import(q);
    return q.dryRun === true ? act() : this.audit.of(q, 'nodes-import', 'nodes', `a ${q.format} file`, act);
  }

  @Rpc('inventory.nodes.export')
  export(q: RpcRequest<'inventory.nodes.export'>): RpcAnswer<'inventory.nodes.export'> {
    return this.files.export(q);
  }
}
