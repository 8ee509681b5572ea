import { isIP } from 'node:net';
import type { NodeRecord } from '#contracts';
import type { BrokerHosts } from '#domain/incident/broker-majority.js';

/** Host part of `nats://host:port`, `host:port`, `[v6]:port` or a bare host. */
export function hostOf(server: string): string {
  const rest = server.replace(/^[a-z+]+:\/\//, '').replace(/^.*@/, '');
  const v6 = /^\[([^\]]+)\]/.exec(rest);
  return v6?.[1] ?? rest.replace(/[:/].*$/, '');
}

/** By which a server of the bus may be known that runs on it. */
export const addressesOf = (n: NodeRecord): string[] => [n.name, ...Object.values(n.networks).map((x) => x.address)];

export interface BrokerSources {
  /** As the server that we are connected to names the cluster: by address, and once it knows them all. May be empty. */
  advertised: readonly string[];
  /** As configured: by name or by address, maybe one server several times. */
  configured: readonly string[];
  /** Addresses of a configured name; undefined: not known. */
  addressesOf(name: string): readonly string[] | undefined;
}

/**
 * Which servers of the bus run on this node, and which on nodes that are unhealthy now. One server may be known by
 * several addresses and by a name: what is on the same node is one server, and the two sources are never added up.
 */
export function brokerHosts(
  from: BrokerSources,
  node: NodeRecord,
  unhealthy: readonly NodeRecord[],
  fleet: readonly NodeRecord[],
): BrokerHosts {
  const known = new Map<string, string>();
  for (const n of [...fleet, node]) for (const key of addressesOf(n)) known.set(key, n.name);
  const serverAt = (host: string): string => {
    const at = [host, ...(from.addressesOf(host) ?? [])];
    return at.map((a) => known.get(a)).find((name) => name !== undefined) ?? at[1] ?? host;
  };
  const distinct = (list: readonly string[]): string[] => [...new Set(list.map(hostOf).map(serverAt))];
  const configured = distinct(from.configured);
  const servers = from.advertised.length > 0 ? distinct(from.advertised) : configured;
  const isOpaque = (s: string): boolean => isIP(s) === 0 && !known.has(s);
  return {
    servers,
    total: Math.max(servers.length, configured.length),
    onThisNode: servers.filter((s) => s === node.name),
    doubtful: [...new Set(unhealthy.map((n) => n.name).filter((name) => servers.includes(name)))],
    unresolved: servers.length > 1 ? servers.filter(isOpaque) : [],
  };
}
