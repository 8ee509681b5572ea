import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { issueAgentCredentials, readAgentsKey, type AgentsKey } from '#bus';
import { MusterError, parseDatagramKeys, type AgentEnrolment } from '#contracts';
import { ServiceContext } from '#service';
import { fleetOf } from '../nodes/node-rules.js';
import { NodeService } from '../nodes/node.service.js';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { enrolledName, enrolledNode, type EnrolRequest } from './enrolment.js';

/** Lets machines in that a provisioner has found. */
@Injectable()
export class EnrolmentService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
  ) {}

  /**
   * What the answer holds is for the node alone. Asked again, it issues another user; the earlier one stays valid.
   * @throws MusterError BAD_REQUEST, ALREADY_EXISTS, NO_WORKERS; CONFIG_INVALID without the keys that agents need
   */
  async enrol(r: EnrolRequest): Promise<AgentEnrolment> {
    // First: without them a record would be written for an agent that could never be heard.
    const keys = { agents: this.agentsKey(), datagram: this.datagramKeys() };
    const facts = {
      fleet: fleetOf(this.store.nodes.view.entries().map((e) => e.value)),
      groups: this.store.clusterSettings.hostGroups,
      offered: (service: 'provisioner' | 'fencer') => this.service.offered(service),
    };
    const name = enrolledName(r);
    const { node } = await this.nodes.upsert(name, (current) => enrolledNode(r, current, facts, Date.now()));
    if (node === undefined) throw new MusterError('INTERNAL', `node ${name} was not written`);
    const { cluster, agentPort } = this.store.clusterSettings;
    return {
      node: name,
      cluster,
      agentPort,
      credentials: await issueAgentCredentials(keys.agents, name),
      datagramKeys: keys.datagram,
      networks: node.networks,
    };
  }

  private agentsKey(): AgentsKey {
    const file = this.context.config.keys.agents;
    if (file === undefined) throw missing('keys.agents');
    return readAgentsKey(file);
  }

  private datagramKeys(): string[] {
    const file = this.context.config.keys.datagram;
    if (file === undefined) throw missing('keys.datagram');
    try {
      return parseDatagramKeys(readFileSync(file, 'utf8')).map((key) => key.toString('hex'));
    } catch (cause) {
      throw new MusterError('CONFIG_INVALID', `the key file ${file}: ${(cause as Error).message}`, { file }, { cause });
    }
  }
}

const missing = (setting: string): MusterError =>
  new MusterError('CONFIG_INVALID', `agents cannot be enrolled without ${setting} in the configuration of inventory`);
