import { Injectable } from '@nestjs/common';
import {
  identityStanding,
  knownIdentity,
  MusterError,
  withIdentity,
  type IdentifiedDevice,
  type NodeRecord,
  type NodeView,
  type RpcRequest,
} from '#contracts';
import { NodeService, unknownNode } from '../nodes/node.service.js';
import { placeBook } from '../power/power-place.js';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { KnownNames } from '../store/known-names.js';
import { IdentityReads } from './identity-reads.js';

/** What people ask and order about whose power devices are. */
@Injectable()
export class IdentityService {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
    private readonly reads: IdentityReads,
    private readonly names: KnownNames,
  ) {}

  /** Asks now. @throws MusterError NODE_UNKNOWN, or as the call to a fencer fails */
  async identify(name: string): Promise<IdentifiedDevice[]> {
    await this.node(name);
    const read = await this.reads.read(name);
    const node = await this.node(name);
    const book = placeBook(
      this.store.nodes.view.entries().map((e) => e.value),
      (host) => this.names.of(host),
    );
    return node.powerLevels.flat().map((d): IdentifiedDevice => {
      const [identity, neighbours] = [knownIdentity(node, d), book.neighboursOf(name, d)];
      const now = read.find((r) => r.id === d.id);
      const unread = now?.seen === undefined ? (now?.detail ?? now?.code ?? 'it was not asked') : undefined;
      return {
        id: d.id,
        standing: identityStanding(node, d),
        ...(identity !== undefined && { identity }),
        ...(unread !== undefined && { unread }),
        ...(neighbours.length > 0 && {
          neighbours: neighbours.map((h) => ({ node: h.node, device: h.device.id })),
        }),
      };
    });
  }

  /** @throws MusterError NODE_UNKNOWN, NOT_FOUND, BAD_REQUEST where nothing speaks against the device */
  async acknowledge(q: RpcRequest<'inventory.nodes.acknowledge'>): Promise<NodeView> {
    await this.nodes.change(q.name, (n) => {
      const device = n.powerLevels.flat().find((d) => d.id === q.device);
      if (device === undefined)
        throw new MusterError('NOT_FOUND', `${q.name} has no power device ${q.device}`, { node: q.name });
      const known = knownIdentity(n, device);
      if (known?.result !== 'mismatch')
        throw new MusterError(
          'BAD_REQUEST',
          `power device ${q.device} of ${q.name} is ${known?.result ?? 'unproven'}: there is nothing to acknowledge`,
          { node: q.name, device: q.device },
        );
      const acknowledged = { by: q.by, why: q.reason, at: this.store.clock.wallMs() };
      return withIdentity(n, q.device, { ...known, acknowledged });
    });
    const entry = await this.store.nodes.bucket.get(q.name);
    if (entry === undefined) throw unknownNode(q.name);
    return this.service.view(entry);
  }

  private async node(name: string): Promise<NodeRecord> {
    const entry = await this.store.nodes.bucket.get(name);
    if (entry === undefined) throw unknownNode(name);
    return entry.value;
  }
}
