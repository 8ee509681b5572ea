import { MusterError } from '../errors/errors.js';
import { sameAddress, type HostAddress } from '../addresses/host-addresses.js';
import { ipBytes } from '../addresses/ip-address.js';
import { MANAGEMENT, type Networks } from '../addresses/networks.js';
import type { AgentEnrolment } from './agent-enrolment.js';

/** `/etc/muster/agent.json`, but for the paths of the two secret files. */
export interface AgentFile {
  node: string;
  cluster: string;
  networks: Record<string, { bind: string }>;
  port: number;
  nats: Record<string, string[]>;
}

/**
 * What an agent is started with on its host. `nats`: where it reaches NATS, by network.
 * @throws BAD_REQUEST where the node on record has an address that the host has not, CONFIG_INVALID without a way to NATS
 */
export function agentFile(
  enrolment: Pick<AgentEnrolment, 'node' | 'cluster' | 'agentPort' | 'networks'>,
  addresses: readonly HostAddress[],
  nats: Record<string, string[]>,
): AgentFile {
  const { node, cluster, agentPort, networks } = enrolment;
  return {
    node,
    cluster,
    networks: bindings(node, networks, addresses),
    port: agentPort,
    nats: natsOf(networks, nats),
  };
}

function bindings(
  node: string,
  networks: Networks,
  addresses: readonly HostAddress[],
): Record<string, { bind: string }> {
  return Object.fromEntries(
    Object.entries(networks).map(([network, { address }]) => {
      const own = addresses.find((a) => sameAddress(a.address, address));
      if (own === undefined)
        throw new MusterError(
          'BAD_REQUEST',
          `${node} has ${address} on ${network}, on record, but the host has no such ${ipBytes(address) === undefined ? 'IP ' : ''}address`,
        );
      return [network, { bind: own.address }];
    }),
  );
}

/**
 * The servers as reached over each of the node's networks: one connection per network.
 * @throws CONFIG_INVALID where there is none
 */
export function natsOf(networks: Networks, nats: Record<string, string[]>): Record<string, string[]> {
  const reached = Object.entries(nats).filter(([network, urls]) => network in networks && urls.length > 0);
  if (reached.length === 0)
    throw new MusterError(
      'CONFIG_INVALID',
      `agents.nats in the configuration of Muster does not say where agents on ${Object.keys(networks).join(', ')} reach NATS`,
    );
  return Object.fromEntries(reached);
}

/** Where agents reach NATS: as configured, else where the services do, unless that is this machine alone. */
export function agentsNats(configured: Record<string, string[]>, servers: readonly string[]): Record<string, string[]> {
  if (Object.keys(configured).length > 0) return configured;
  const reachable = servers.filter((url) => !/^[a-z]+:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$)/.test(url));
  return reachable.length === 0 ? {} : { [MANAGEMENT]: reachable };
}
