import { Injectable } from '@nestjs/common';
import {
  isOpenIncident,
  MusterError,
  NODE_NAME_PATTERN,
  RESERVATIONS_KEY,
  type NodeCreateRequest,
  type NodeRecord,
  type NodeView,
} from '#contracts';
import { readSecretsKey, sealSecret, type SealedSecret } from '#bus';
import { ServiceContext } from '#service';
import { InventoryStore } from '../store/inventory-store.js';
import { checkDriver } from './driver-check.js';
import { NodeService, unknownNode } from './node.service.js';
import { register, secretKey } from './registration.js';
import { powerDrivers, ServiceView } from './service-view.js';

/** Nodes that people register, cordon and delete. */
@Injectable()
export class NodesService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
  ) {}

  /** @throws MusterError NODE_UNKNOWN */
  async get(name: string): Promise<NodeView> {
    const entry = NODE_NAME_PATTERN.test(name) ? await this.store.nodes.bucket.get(name) : undefined;
    if (!entry) throw unknownNode(name);
    return this.service.view(entry);
  }

  async create(r: NodeCreateRequest): Promise<NodeView> {
    const others = this.store.nodes.view.entries().map((e) => e.value);
    const { node, secrets } = register(r, others, this.store.clusterSettings.hostGroups, Date.now());
    checkDriver('provisioner', node.provisionDriver, this.service.offered('provisioner'));
    for (const driver of powerDrivers(node)) checkDriver('fencer', driver, this.service.offered('fencer'));
    await this.keep(secrets);
    const done = await this.nodes.upsert(node.name, (current) => {
      if (current)
        throw new MusterError('ALREADY_EXISTS', `node ${node.name} is registered already`, { node: node.name });
      return node;
    });
    if (!done.created) throw new MusterError('INTERNAL', `node ${node.name} was not written`);
    return this.get(node.name);
  }

  /** A node that serves is decommissioned first; one that is gone may be forgotten. */
  async delete(name: string, revision?: number): Promise<void> {
    const entry = await this.store.nodes.bucket.get(name);
    if (!entry) throw unknownNode(name);
    if (revision !== undefined && revision !== entry.revision)
      throw new MusterError('REVISION_CONFLICT', `${name} has changed: its revision is ${entry.revision}`, {
        node: name,
      });
    await this.refuseDelete(entry.value);
    await this.store.nodes.bucket.delete(name, entry.revision);
    for (const device of entry.value.powerLevels.flat())
      await this.store.bus.bucket<SealedSecret>('secrets').delete(device.secret ?? secretKey(name, device.id));
    await this.store.bus.emit('node-deleted', name, { node: name });
  }

  async cordon(name: string, by: string, reason: string, until?: number): Promise<NodeView> {
    const cordon = { reason, by, at: Date.now(), ...(until !== undefined && { until }) };
    await this.nodes.change(name, (n) => ({ ...n, cordon }));
    return this.get(name);
  }

  async uncordon(name: string): Promise<NodeView> {
    await this.nodes.change(name, (n) => {
      if (!n.cordon) return undefined;
      const { cordon: _over, ...rest } = n;
      return rest;
    });
    return this.get(name);
  }

  private async refuseDelete(n: NodeRecord): Promise<void> {
    const node = n.name;
    const held = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value.held[node];
    if (held)
      throw new MusterError('NODE_RESERVED', `${node} is held by ${held.job ?? held.claim ?? 'another'}`, {
        node,
        ...held,
      });
    const incident = (await this.store.incidents.bucket.get(node))?.value;
    if (incident && isOpenIncident(incident))
      throw new MusterError('NODE_BUSY', `${node} has an open incident: ${incident.id} is ${incident.phase}`, {
        node,
        incident: incident.id,
      });
    const workloads = this.store.workloads.view.entries().filter((e) => e.value.assignment?.node === node);
    if (workloads.length > 0)
      throw new MusterError('WORKLOADS_PRESENT', `${node} has workloads: ${workloads.map((w) => w.key).join(' ')}`, {
        node,
        workloads: workloads.map((w) => w.key),
      });
    if (n.status === 'Allocated' && n.state === 'Discovered')
      throw new MusterError('ILLEGAL_TRANSITION', `${node} is Allocated and Discovered: decommission it first`, {
        node,
      });
  }

  private async keep(secrets: Record<string, string>): Promise<void> {
    const entries = Object.entries(secrets);
    if (entries.length === 0) return;
    const file = this.context.config.keys.secrets;
    if (file === undefined)
      throw new MusterError('CONFIG_INVALID', 'power passwords need keys.secrets in the configuration of inventory');
    const key = readSecretsKey(file);
    const bucket = this.store.bus.bucket<SealedSecret>('secrets');
    for (const [name, password] of entries) await bucket.mutate(name, () => sealSecret(key, password));
  }
}
