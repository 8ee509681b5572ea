import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import {
  isInDoubt,
  isOpenIncident,
  managementAddress,
  MusterError,
  NODE_NAME_PATTERN,
  RESERVATIONS_KEY,
  type Hold,
  type NodeCreateRequest,
  type NodePatchRequest,
  type NodeRecord,
  type NodeView,
  type RpcAnswer,
  type WireError,
} from '#contracts';
import { FreshReads, type Entry } from '#bus';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { InventoryStore } from '../store/inventory-store.js';
import { KnownNames } from '../store/known-names.js';
import { cordoned } from '../nodes/cordon.js';
import { editNode, patched, type EditFacts, type NodeEdit } from './edit-node.js';
import { checkRevision, fleetOf, type RuleFacts } from '../nodes/node-rules.js';
import { NodeService, unknownNode } from '../nodes/node.service.js';
import { MOST_CHARS, viewText } from '../nodes/node-text.js';
import { PowerSecrets, secretsOf } from './power-secrets.js';
import { register } from '../nodes/registration.js';
import { ServiceView } from '../nodes/service-view.js';

/** Nodes that are read together, at most. */
const MOST_NAMES = 500;

/** Nodes that people register, edit and cordon. */
@Injectable()
export class NodesService {
  /** To show, never to decide. */
  private readonly reads: FreshReads<NodeRecord>;

  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
    private readonly secrets: PowerSecrets,
    private readonly quarantine: PowerQuarantine,
    private readonly names: KnownNames,
  ) {
    this.reads = new FreshReads(store.nodes.bucket, store.nodes.view);
  }

  /** By name, else by management address, as operations take it. @throws MusterError NODE_UNKNOWN */
  async get(name: string): Promise<NodeView> {
    const entry = (NODE_NAME_PATTERN.test(name) ? await this.reads.get(name) : undefined) ?? this.behind(name);
    if (!entry) throw unknownNode(name);
    return this.service.withRemedies(entry);
  }

  /** As {@link get}, many at once, as text. */
  async each(names: readonly string[]): Promise<RpcAnswer<'inventory.nodes.each'>> {
    const asked = names.slice(0, MOST_NAMES);
    const own = asked.filter((name) => NODE_NAME_PATTERN.test(name));
    const read = await this.reads.each(own);
    const byName = new Map(own.map((name, i) => [name, read[i]]));
    const snapshot = this.service.snapshot();
    const found: (number | WireError)[] = [];
    const texts: string[] = [];
    let chars = 0;
    for (const name of asked) {
      if (chars > MOST_CHARS) break;
      try {
        const entry = valueOf(byName.get(name)) ?? this.behind(name);
        if (!entry) throw unknownNode(name);
        const text = viewText(entry.value, snapshot.remedied(entry));
        texts.push(text);
        found.push(entry.revision);
        chars += text.length;
      } catch (e) {
        const error = MusterError.from(e);
        if (error.code === 'INTERNAL') this.store.bus.log.error({ err: e, node: name }, 'a node cannot be shown');
        found.push(error.toJSON());
      }
    }
    return { found, text: texts.join('\n') };
  }

  private behind(address: string): Entry<NodeRecord> | undefined {
    if (isIP(address) === 0) return undefined;
    return this.store.nodes.view.entries().find((e) => managementAddress(e.value) === address);
  }

  async create(r: NodeCreateRequest): Promise<NodeView> {
    const { node, secrets } = register(r, this.rules(), this.store.clock.wallMs(), this.newNonce());
    checkEdit(node.name, await this.hold(node.name));
    await this.secrets.keep(secrets);
    await this.orDrop(secrets, () =>
      this.nodes.upsert(node.name, (current) => {
        if (current)
          throw new MusterError('ALREADY_EXISTS', `node ${node.name} is registered already`, { node: node.name });
        return node;
      }),
    );
    return this.get(node.name);
  }

  /**
   * One compare-and-set on the record. New passwords are sealed under new keys before it, the ones that it no longer
   * refers to are deleted after it: at no moment does a record refer to a password that is not there.
   */
  async patch(name: string, patch: NodePatchRequest, revision?: number): Promise<NodeView> {
    if (!NODE_NAME_PATTERN.test(name)) throw unknownNode(name);
    const nonce = this.newNonce();
    let before: NodeRecord | undefined;
    let edit: NodeEdit | undefined;
    const decide = async (node: NodeRecord, current: number): Promise<NodeRecord | undefined> => {
      checkRevision(name, current, revision);
      before = node;
      edit = editNode(node, patch, await this.editFacts(node, patch), nonce);
      if (!edit) return undefined;
      await this.secrets.keep(edit.secrets);
      return patched(node, edit.patch);
    };
    const done = await this.orDrop(
      () => edit?.secrets ?? {},
      () => this.nodes.change(name, decide),
    );
    if (done.changed && before && edit) {
      await this.secrets.drop(unused(before, done.node));
      const id = `${name}.${done.revision}.node-edited`;
      await this.store.bus.emit('node-edited', name, { node: name, fields: edit.fields }, { id });
    }
    return this.get(name);
  }

  async cordon(name: string, by: string, reason: string, until?: number): Promise<NodeView> {
    const order = { by, reason, until };
    await this.nodes.change(name, (n) => ({
      ...n,
      cordon: cordoned(order, n.cordon?.drain === true, this.store.clock.wallMs()),
    }));
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

  /** Part of the keys under which the passwords of one change are kept. */
  private newNonce(): string {
    return this.store.random.hex(6);
  }

  private rules(): RuleFacts {
    return {
      fleet: fleetOf(
        this.store.nodes.view.entries().map((e) => e.value),
        (name) => this.names.of(name),
      ),
      groups: this.store.clusterSettings.hostGroups,
      offered: (service) => this.service.offered(service),
    };
  }

  /** Read after the record: who holds the node by then, or has an incident with it, is seen here. */
  private async editFacts(node: NodeRecord, patch: NodePatchRequest): Promise<EditFacts> {
    const passwords = patch.powerLevels?.flat().some((device) => device?.password !== undefined) === true;
    return {
      ...this.rules(),
      hold: await this.hold(node.name),
      ...(await this.openIncident(node.name)),
      isStored: await this.secrets.known(passwords ? secretsOf(node) : []),
    };
  }

  private async hold(name: string): Promise<Hold | undefined> {
    return (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value.held[name];
  }

  private async openIncident(name: string): Promise<Pick<EditFacts, 'incident' | 'powerAtRest'>> {
    const incident = (await this.store.incidents.bucket.get(name))?.value;
    if (incident === undefined || !isOpenIncident(incident)) return {};
    return { incident, powerAtRest: this.quarantine.reasonOf(incident) === undefined };
  }

  /** Where the act was refused, its passwords go too; where nobody knows whether it was written, they stay. */
  private async orDrop<T>(
    secrets: Record<string, string> | (() => Record<string, string>),
    act: () => Promise<T>,
  ): Promise<T> {
    try {
      return await act();
    } catch (e) {
      if (!isInDoubt(e)) await this.secrets.drop(Object.keys(typeof secrets === 'function' ? secrets() : secrets));
      throw e;
    }
  }
}

function valueOf<T>(read: PromiseSettledResult<T> | undefined): T | undefined {
  if (read?.status === 'rejected') throw read.reason;
  return read?.value;
}

function unused(before: NodeRecord, after: NodeRecord): string[] {
  const used = new Set(secretsOf(after));
  return secretsOf(before).filter((secret) => !used.has(secret));
}

function checkEdit(node: string, hold: Hold | undefined): void {
  if (hold?.edit !== undefined)
    throw new MusterError('NODE_RESERVED', `${node} is held by ${hold.edit}, try again when it has ended`, {
      node,
      ...hold,
    });
}
