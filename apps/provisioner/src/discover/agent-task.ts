import { agentFile, MusterError, type AgentEnrolment, type AgentFile, type NodeRecord } from '#contracts';
import type { HostFacts } from './host-facts.js';

/** What install.yml is to do on one host; without a version the agent that is there is only started. */
export interface AgentTask {
  node: string;
  /** The archive has to get there. */
  send: boolean;
  version?: string;
  /** agent.json, but for the paths of the secret files. */
  config?: AgentFile;
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
  const { node, credentials, datagramKeys } = enrolment;
  return {
    node,
    send: facts.agent?.version !== version,
    version,
    config: agentFile(enrolment, facts.addresses, nats),
    credentials,
    datagramKeys,
  };
}
