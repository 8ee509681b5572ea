import { Injectable } from '@nestjs/common';
import { NODE_NAME_PATTERN, type NodeRecord, type NodeView } from '#contracts';
import { withAcceptedDrift, type DriftAcceptance } from '../nodes/accepted-drift.js';
import { NodeService, unknownNode } from '../nodes/node.service.js';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';

/** What operators say about a drift that was found. */
@Injectable()
export class AcceptedDriftService {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
  ) {}

  /** @throws MusterError NODE_UNKNOWN, and see {@link withAcceptedDrift} */
  accept(name: string, order: DriftAcceptance): Promise<NodeView> {
    return this.change(name, (n) => withAcceptedDrift(n, order, this.store.clock.wallMs()));
  }

  /** What it was about is told again, where it is still found. @throws MusterError NODE_UNKNOWN */
  withdraw(name: string): Promise<NodeView> {
    return this.change(name, (n) => {
      if (n.acceptedDrift === undefined) return undefined;
      const { acceptedDrift: _withdrawn, ...rest } = n;
      return rest;
    });
  }

  private async change(name: string, to: (n: NodeRecord) => NodeRecord | undefined): Promise<NodeView> {
    if (!NODE_NAME_PATTERN.test(name)) throw unknownNode(name);
    const { node, revision } = await this.nodes.change(name, to);
    return this.service.withRemedies({ key: name, value: node, revision });
  }
}
