import type { Bus } from '#bus';
import {
  agentsNats,
  boardSerial,
  identityOf,
  isMachineId,
  machineOf,
  MANAGEMENT,
  MusterError,
  sameAddress,
  type JobRecord,
  type NodeRecord,
  type NodeResult,
} from '#contracts';
import type { ServiceConfig } from '#service';
import type { AgentArchive } from '../agent-archive/agent-archive.js';
import { agentStep, installTask, startTask, type AgentTask } from './agent-task.js';
import { readHostFacts, type HostFacts } from './host-facts.js';
import { hostNetworks, NETWORKS_VARIABLE } from './host-networks.js';

export interface DiscoveredHosts {
  bus: Pick<Bus, 'call'>;
  config: Pick<ServiceConfig, 'cluster' | 'agents' | 'nats'>;
  archive: AgentArchive;
  job: Pick<JobRecord, 'by'>;
  /** All that are known. */
  nodes: readonly NodeRecord[];
  /** Of the run: configuration < globals < request. */
  variables: Record<string, unknown>;
  /** Address → what its host said of itself. */
  facts: ReadonlyMap<string, unknown>;
}

export interface PreparedInstall {
  archive: AgentArchive;
  /** By address. */
  tasks: Map<string, AgentTask>;
  /** Those that no agent can be put on, and why. */
  refused: Record<string, NodeResult>;
}

/** The node on record at an address; its own variables say how it is reached. */
export const nodeAt = (nodes: readonly NodeRecord[], address: string): NodeRecord | undefined =>
  nodes.find((n) => sameAddress(n.networks[MANAGEMENT]?.address ?? '', address));

/**
 * Has inventory register what is new, and says what is to be done on each host. One that cannot be taken in does not
 * keep the others.
 */
export async function prepareInstall(o: DiscoveredHosts): Promise<PreparedInstall> {
  const prepared: PreparedInstall = { archive: o.archive, tasks: new Map(), refused: {} };
  const found = new Map<string, { who: Found; facts: HostFacts }>();
  const refuse = (address: string, error: unknown, node?: string): void => {
    const { message } = MusterError.from(error);
    prepared.refused[address] = {
      ok: false,
      step: 'install',
      failedTask: 'Enrol',
      message,
      ...(node !== undefined && { node }),
    };
  };
  for (const [address, said] of o.facts)
    try {
      const facts = readHostFacts(said);
      if (facts === undefined) throw new MusterError('COMMAND_FAILED', 'the host did not say clearly what it is');
      found.set(address, { who: whoIs(o, address, facts), facts });
    } catch (error) {
      refuse(address, error);
    }
  const twice = namedTwice(found);
  for (const [address, { who, facts }] of found)
    try {
      const others = twice.get(who.name) ?? [];
      if (others.length > 1)
        throw new MusterError(
          'ALREADY_EXISTS',
          `${others.join(' and ')} both answer as ${who.name}: discover one of them`,
        );
      const task = who.start ? startTask(who.name) : await enrolled(o, address, who, facts);
      prepared.tasks.set(address, task);
    } catch (error) {
      refuse(address, error, who.name);
    }
  return prepared;
}

interface Found {
  name: string;
  label: string;
  serial: string;
  /** The agent that is there is left as it is. */
  start: boolean;
}

function whoIs(o: DiscoveredHosts, address: string, facts: HostFacts): Found {
  const step = agentStep(facts.agent, o.config.cluster, nodeAt(o.nodes, address));
  const { label, serial } = step.node ?? identityOf(facts);
  return { name: `${label}-${serial}`, label, serial, start: step.do === 'start' };
}

async function enrolled(o: DiscoveredHosts, address: string, who: Found, facts: HostFacts): Promise<AgentTask> {
  const networks = hostNetworks(address, o.variables[NETWORKS_VARIABLE], facts.addresses);
  const { label, serial } = who;
  const productSerial = boardSerial(facts.productSerial);
  const enrolment = await o.bus.call('inventory.agents.enrol', {
    by: o.job.by,
    label,
    serial,
    networks,
    hostKeys: facts.hostKeys,
    ...(isMachineId(facts.machineId) && { machine: machineOf(facts.machineId) }),
    ...(productSerial !== undefined && { productSerial }),
    ...(facts.hardware !== undefined && { hardware: facts.hardware }),
  });
  const nats = agentsNats(o.config.agents.nats, o.config.nats.servers);
  return installTask(facts, enrolment, o.archive.version, nats);
}

/** Two addresses of one host, or two hosts that are copies of each other: nobody can tell which. */
function namedTwice(found: ReadonlyMap<string, { who: Found }>): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const [address, { who }] of found) byName.set(who.name, [...(byName.get(who.name) ?? []), address]);
  return byName;
}

/** What the job's record says of each address: the node that it is, beside how it went. */
export const withNodes = (
  results: Record<string, NodeResult>,
  tasks: ReadonlyMap<string, AgentTask>,
): Record<string, NodeResult> =>
  Object.fromEntries(
    Object.entries(results).map(([address, result]) => {
      const node = tasks.get(address)?.node;
      return [address, node === undefined ? result : { ...result, node }];
    }),
  );
