/** What a lease must know of the server it is connected to. */
export interface LeaseServer {
  version: string;
  /** Name of its cluster; absent on a single server. */
  cluster?: string;
}

const CLUSTER_FLOOR = [2, 12] as const;

/**
 * Why leases must not run on this server, or undefined. On a cluster below 2.9.21 two creates of one key were both
 * acknowledged (23 times in 200 rounds on 2.9.10 with three replicas), and 2.10.27 once went back in revisions after
 * a kill; a single server is clean from 2.9.10 on.
 */
export function leaseServerRefusal(server: LeaseServer | undefined): string | undefined {
  if (server?.cluster === undefined) return undefined;
  const [major = 0, minor = 0] = server.version.split('.').map(Number);
  if (major > CLUSTER_FLOOR[0] || (major === CLUSTER_FLOOR[0] && minor >= CLUSTER_FLOOR[1])) return undefined;
  return `leases do not run on a NATS cluster of version ${server.version}: it may acknowledge two holders; use 2.12 or newer`;
}
