import type { NodeRecord } from '#contracts';

/** Host part of `nats://host:port`, `host:port`, `[v6]:port` or a bare host. */
export function hostOf(server: string): string {
  const rest = server.replace(/^[a-z+]+:\/\//, '').replace(/^.*@/, '');
  const v6 = /^\[([^\]]+)\]/.exec(rest);
  return v6?.[1] ?? rest.replace(/[:/].*$/, '');
}

/**
 * Which servers of the bus run on this node, and which on nodes that are in trouble now.
 * @param servers as configured, and as the server we are connected to names them
 */
export function brokerHosts(
  servers: readonly string[],
  node: NodeRecord,
  inTrouble: readonly NodeRecord[],
): { servers: string[]; onThisNode: string[]; doubtful: string[] } {
  const hosts = [...new Set(servers.map(hostOf))];
  const on = (n: NodeRecord): string[] => {
    const own = new Set([n.name, ...Object.values(n.networks).map((x) => x.address)]);
    return hosts.filter((h) => own.has(h));
  };
  return { servers: hosts, onThisNode: on(node), doubtful: [...new Set(inTrouble.flatMap(on))] };
}
