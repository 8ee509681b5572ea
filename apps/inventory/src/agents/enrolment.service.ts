import { Injectable } from '@nestjs/common';
import { issueAgentCredentials, readAgentsKey, type AgentsKey } from '#bus';
import { publicKeyOf } from '#contracts/keys/nkey.js';
import { MusterError, type AgentEnrolment, type NodeRecord } from '#contracts';
import { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { fleetOf } from '../nodes/node-rules.js';
import { NodeService } from '../nodes/node.service.js';
import { ServiceView } from '../nodes/service-view.js';
import { entriesNow } from '../store/entries-now.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgentUsers } from '../agent-users/agent-users.js';
import { DatagramKeysService } from './datagram-keys.service.js';
import {
  enrolledName,
  enrolledNode,
  isLeftover,
  mayBeSecond,
  withoutEnrolment,
  withAgentKey,
  type EnrolRequest,
} from './enrolment.js';
import { refuseSecondNode } from './other-node-of-machine.js';

/** Lets machines in: those that a provisioner has found, and those that show a token. */
@Injectable()
export class EnrolmentService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
    private readonly users: AgentUsers,
    private readonly alarms: AlarmService,
    private readonly datagramKeys: DatagramKeysService,
  ) {}

  /**
   * What the answer holds is for the node alone. Asked again, it issues another user; the ones before stay valid, up to
   * four of them. `mayBe` may refuse by the record as it is.
   * @throws MusterError BAD_REQUEST, ALREADY_EXISTS, NO_WORKERS; CONFIG_INVALID without the keys that agents need
   */
  async enrol(r: EnrolRequest, mayBe?: (current: NodeRecord | undefined) => void): Promise<AgentEnrolment> {
    // First: without them a record would be written for an agent that could never be heard.
    const keys = { agents: this.agentsKey(), datagram: await this.datagramKeys.forEnrolment() };
    const name = enrolledName(r);
    // As they are now: another replica may have enrolled this machine a moment ago.
    const nodes = await this.nodesNow();
    const facts = {
      nodes,
      fleet: fleetOf(nodes),
      groups: this.store.clusterSettings.hostGroups,
      offered: (service: 'provisioner' | 'fencer') => this.service.offered(service),
    };
    const credentials = await issueAgentCredentials(keys.agents, name);
    const key = publicKeyOf(credentials.seed);
    const node = await this.told(async () => {
      let before: NodeRecord | undefined;
      const done = await this.nodes.upsert(name, (current) => {
        before = current;
        mayBe?.(current);
        const next = enrolledNode(r, current, facts, this.context.clock.wallMs()) ?? current;
        return next && withAgentKey(next, key);
      });
      if (done.node === undefined) throw new MusterError('INTERNAL', `node ${name} was not written`);
      if (mayBeSecond(before, done.node)) await this.refuseTwin(r, before, key);
      return done.node;
    });
    await this.users.note(key, name);
    await this.alarms.clear('duplicate', name);
    const { cluster, agentPort } = this.store.clusterSettings;
    const ca = this.context.natsAuthority;
    return {
      node: name,
      cluster,
      agentPort,
      credentials: { ...credentials, ...(ca !== undefined && { ca }) },
      datagramKeys: keys.datagram,
      networks: node.networks,
    };
  }

  /**
   * A machine may ask for two names at once, each before the other is on record. Whichever is written later finds the
   * other here, and both may: then neither is let in. `before`: its record before `key` was issued.
   */
  private async refuseTwin(r: EnrolRequest, before: NodeRecord | undefined, key: string): Promise<void> {
    const name = enrolledName(r);
    try {
      refuseSecondNode(r, before, await this.nodesNow());
    } catch (e) {
      if (before === undefined) await this.deleteLeftover(name, key);
      else await this.nodes.upsert(name, (now) => now && withoutEnrolment(now, before, key));
      const { code, message, facts } = MusterError.from(e);
      throw new MusterError(code, `${name} was not kept, try again: ${message}`, facts, { cause: e });
    }
  }

  /** Another replica may write to it at the same time: the same request may have been sent to both. */
  private async deleteLeftover(name: string, key: string): Promise<void> {
    const { bucket } = this.store.nodes;
    for (;;) {
      const now = await bucket.get(name);
      if (now === undefined || !isLeftover(now.value, key)) return;
      try {
        await bucket.delete(name, now.revision);
        await this.store.bus.emit('node-deleted', name, { node: name }, { id: `${name}.${now.revision}.node-deleted` });
        return;
      } catch (e) {
        if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
      }
    }
  }

  private async nodesNow(): Promise<NodeRecord[]> {
    return (await entriesNow(this.store.nodes)).map((e) => e.value);
  }

  /** Two that claim one name or address: somebody should know, whatever the one who asked does with the refusal. */
  private async told<T>(act: () => T | Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (e) {
      const { code, facts, message } = MusterError.from(e);
      if (code === 'ALREADY_EXISTS' && typeof facts['node'] === 'string')
        await this.alarms.raise('duplicate', facts['node'], 'warning', `A machine was refused: ${message}.`);
      throw e;
    }
  }

  private agentsKey(): AgentsKey {
    const file = this.context.config.keys.agents;
    if (file === undefined) throw missing('keys.agents');
    return readAgentsKey(file);
  }
}

const missing = (setting: string): MusterError =>
  new MusterError('CONFIG_INVALID', `agents cannot be enrolled without ${setting} in the configuration of inventory`);
