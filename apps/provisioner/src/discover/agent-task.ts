import { isIP } from 'node:net';
import { MANAGEMENT, MusterError, type AgentEnrolment, type Networks, type NodeRecord } from '#contracts';
import type { HostFacts } from './host-facts.js';
import { sameAddress } from './host-networks.js';

/** What install.yml is to do on one host; without a version the agent that is there is only started. */
export interface AgentTask {
  node: string;
  /** The archive has to get there. */
  send: boolean;
  version?: string;
  /** agent.json, but for the paths of the secret files. */
  config?: Record<string, unknown>;
  /** Secret. */
  credentials?: AgentEnrolment['credentials'];
  /** Secret. */
  datagramKeys?: string[];
}

/**
 * What the agent on the host means for it: `start` it as it is, or `install` (again), as the node that it is or as a new
 * one. `on`: the node on record at this address.
 * @throws ALREADY_EXISTS where it is somebody else's agent
 */
export function agentStep(
  agent: HostFacts['agent'],
  cluster: string,
  on: NodeRecord | undefined,
): { do: 'start'; node: NodeRecord } | { do: 'install'; node?: NodeRecord } {
  if (agent === null || agent.node === null) return { do: 'install' };
  if (agent.cluster !== null && agent.cluster !== cluster)
    throw new MusterError(
      'ALREADY_EXISTS',
      `the host runs the agent of another cluster (${agent.cluster}): remove its unit and /etc/muster first`,
    );
  if (agent.node === on?.name) return agent.byHand ? { do: 'start', node: on } : { do: 'install', node: on };
  if (agent.byHand)
    throw new MusterError(
      'ALREADY_EXISTS',
      `the host has an agent that was installed by hand as ${agent.node}: register that node, or remove the agent's unit`,
    );
  return { do: 'install' };
}

export const startTask = (node: string): AgentTask => ({ node, send: false });

/** @throws BAD_REQUEST where the node on record has an address that the host has not, CONFIG_INVALID without a way to NATS */
export function installTask(
  facts: HostFacts,
  enrolment: AgentEnrolment,
  version: string,
  nats: Record<string, string[]>,
): AgentTask {
  const { node, cluster, agentPort, credentials, datagramKeys, networks } = enrolment;
  return {
    node,
    send: facts.agent?.version !== version,
    version,
    config: {
      node,
      cluster,
      networks: bindings(node, networks, facts.addresses),
      port: agentPort,
      nats: natsOf(networks, nats),
    },
    credentials,
    datagramKeys,
  };
}

function bindings(
  node: string,
  networks: Networks,
  addresses: HostFacts['addresses'],
): Record<string, { bind: string }> {
  return Object.fromEntries(
    Object.entries(networks).map(([network, { address }]) => {
      const own = addresses.find((a) => sameAddress(a.address, address));
      if (own === undefined)
        throw new MusterError(
          'BAD_REQUEST',
          `${node} has ${address} on ${network}, on record, but the host has no such ${isIP(address) === 0 ? 'IP ' : ''}address`,
        );
      return [network, { bind: own.address }];
    }),
  );
}

/** The servers as reached over each of the node's networks: one connection per network. */
function natsOf(networks: Networks, nats: Record<string, string[]>): Record<string, string[]> {
  const reached = Object.entries(nats).filter(([network, urls]) => network in networks && urls.length > 0);
  if (reached.length === 0)
    throw new MusterError(
      'CONFIG_INVALID',
      `agents.nats in the configuration of the provisioner does not say where agents on ${Object.keys(networks).join(', ')} reach NATS`,
    );
  return Object.fromEntries(reached);
}

/** Where agents reach NATS when nobody has said it: where the services do, unless that is this machine alone. */
export const defaultNats = (servers: readonly string[]): Record<string, string[]> => {
  const reachable = servers.filter((url) => !/^[a-z]+:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$)/.test(url));
  return reachable.length === 0 ? {} : { [MANAGEMENT]: reachable };
};
