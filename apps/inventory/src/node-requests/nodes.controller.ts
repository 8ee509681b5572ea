import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { DeletionsService } from './deletions.service.js';
import { LifeSignsService } from './life-signs.service.js';
import { NodeList } from './node-list.js';
import { NodesService } from './nodes.service.js';
import { ReplacementService } from './replacement.service.js';
import { ServiceView } from '../nodes/service-view.js';

@Controller()
export class NodesController {
  constructor(
    private readonly nodes: NodesService,
    private readonly deletions: DeletionsService,
    private readonly replacements: ReplacementService,
    private readonly nodeList: NodeList,
    private readonly lifeSigns: LifeSignsService,
    private readonly audit: AuditService,
    private readonly service: ServiceView,
  ) {}

  @Rpc('inventory.nodes.list')
  async list(q: RpcRequest<'inventory.nodes.list'>): Promise<RpcAnswer<'inventory.nodes.list'>> {
    await this.service.whenKnown();
    return this.nodeList.page(q);
  }

  @Rpc('inventory.nodes.text')
  async text(q: RpcRequest<'inventory.nodes.text'>): Promise<RpcAnswer<'inventory.nodes.text'>> {
    await this.service.whenKnown();
    return this.nodeList.text(q);
  }

  @Rpc('inventory.nodes.get')
  async get(q: RpcRequest<'inventory.nodes.get'>): Promise<RpcAnswer<'inventory.nodes.get'>> {
    await this.service.whenKnown();
    return this.nodes.get(q.name);
  }

  @Rpc('inventory.nodes.each')
  async each(q: RpcRequest<'inventory.nodes.each'>): Promise<RpcAnswer<'inventory.nodes.each'>> {
    await this.service.whenKnown();
    return this.nodes.each(q.names);
  }

  @Rpc('inventory.nodes.create')
  create(q: RpcRequest<'inventory.nodes.create'>): Promise<RpcAnswer<'inventory.nodes.create'>> {
    const name = `${q.node.label}-${q.node.serial}`;
    return this.audit.of(q, 'node-create', name, name, () => this.nodes.create(q.node));
  }

  @Rpc('inventory.nodes.patch')
  patch(q: RpcRequest<'inventory.nodes.patch'>): Promise<RpcAnswer<'inventory.nodes.patch'>> {
    const detail = `fields: ${Object.keys(q.patch).join(' ')}`;
    return this.audit.of(q, 'node-edit', q.name, detail, () => this.nodes.patch(q.name, q.patch, q.revision));
  }

  @Rpc('inventory.nodes.replace')
  replace(q: RpcRequest<'inventory.nodes.replace'>): Promise<RpcAnswer<'inventory.nodes.replace'>> {
    const detail = `by serial ${q.replacement.serial}`;
    return this.audit.of(q, 'node-replace', q.name, detail, () =>
      this.replacements.replace(q.name, q.replacement, q.by, q.revision),
    );
  }

  @Rpc('inventory.nodes.delete')
  delete(q: RpcRequest<'inventory.nodes.delete'>): Promise<RpcAnswer<'inventory.nodes.delete'>> {
    return this.audit.of(q, 'node-delete', q.name, q.name, async () => {
      await this.deletions.delete(q.name, q.by, q.revision);
      return {};
    });
  }

  @Rpc('inventory.nodes.cordon')
  cordon(q: RpcRequest<'inventory.nodes.cordon'>): Promise<RpcAnswer<'inventory.nodes.cordon'>> {
    return this.audit.of(q, 'cordon', q.name, q.reason, () => this.nodes.cordon(q.name, q.by, q.reason, q.until));
  }

  @Rpc('inventory.nodes.uncordon')
  uncordon(q: RpcRequest<'inventory.nodes.uncordon'>): Promise<RpcAnswer<'inventory.nodes.uncordon'>> {
    return this.audit.of(q, 'uncordon', q.name, q.name, () => this.nodes.uncordon(q.name));
  }

  /** A detector's alone: the gateway may not call it. */
  @Rpc('inventory.nodes.lifeSeen')
  async lifeSeen(q: RpcRequest<'inventory.nodes.lifeSeen'>): Promise<RpcAnswer<'inventory.nodes.lifeSeen'>> {
    await this.lifeSigns.seen(q.name, q.observer, q.seen);
    return {};
  }

  @Rpc('inventory.nodes.waiveLifeSign')
  waiveLifeSign(q: RpcRequest<'inventory.nodes.waiveLifeSign'>): Promise<RpcAnswer<'inventory.nodes.waiveLifeSign'>> {
    return this.audit.of(q, 'life-sign-waive', q.name, q.reason, async () => {
      await this.lifeSigns.waive(q.name, q.by, q.reason);
      return this.nodes.get(q.name);
    });
  }

  @Rpc('inventory.nodes.requireLifeSign')
  requireLifeSign(
    q: RpcRequest<'inventory.nodes.requireLifeSign'>,
  ): Promise<RpcAnswer<'inventory.nodes.requireLifeSign'>> {
    return this.audit.of(q, 'life-sign-require', q.name, q.name, async () => {
      await this.lifeSigns.require(q.name);
      return this.nodes.get(q.name);
    });
  }
}
