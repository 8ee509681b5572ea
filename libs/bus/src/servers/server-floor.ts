/** What a NATS server says of itself to whoever connects. */
export interface NatsServer {
  /** `server_name`; where nobody gave it one, its id. */
  name: string;
  version: string;
  /** Name of its cluster; absent on a single server. */
  cluster?: string;
}

type Version = readonly [major: number, minor: number, patch: number];

/**
 * First versions with "don't commit entries of previous terms", "a candidate resets its vote" and the mends of the file
 * store: of line 2.12, and of all later ones. Below 2.9.21 two creates of one key were both acknowledged (23 times in 200
 * rounds on 2.9.10 with three replicas); 2.10.27 once went back in revisions after a kill.
 */
const CLUSTER_FLOOR = { line: [2, 12, 12], later: [2, 14, 3] } as const;
/** From here on a single server can write to its disk before it acknowledges, without known losses. */
const SINGLE_RECOMMENDED: Version = [2, 10, 23];

function versionOf(text: string): Version {
  // What is no number counts as the lowest.
  const [major = 0, minor = 0, patch = 0] = (text.split('-')[0] ?? '').split('.').map((part) => Number(part) || 0);
  return [major, minor, patch];
}

/** Part by part: 2.9 is below 2.10. */
function isBelow(a: Version, b: Version): boolean {
  const i = a.findIndex((part, at) => part !== b[at]);
  return i >= 0 && a[i]! < b[i]!;
}

/** Both as `2.12.1`. */
export const isAtLeast = (version: string, floor: string): boolean => !isBelow(versionOf(version), versionOf(floor));

/** Whether a server of this version (`2.15.1`) may be one of a cluster. */
export function isSafeInCluster(text: string): boolean {
  const version = versionOf(text);
  if (!isBelow(version, CLUSTER_FLOOR.later)) return true;
  const { line } = CLUSTER_FLOOR;
  return version[0] === line[0] && version[1] === line[1] && !isBelow(version, line);
}

/** Whether a single server of this version can write to its disk before it acknowledges, without known losses. */
export const isRecommendedAlone = (version: string): boolean => !isBelow(versionOf(version), SINGLE_RECOMMENDED);

/** Why leases and records must not be kept on this server; undefined: they may. A single server is clean from 2.9.10 on. */
export function serverRefusal(server: Omit<NatsServer, 'name'> & { name?: string }): string | undefined {
  if (server.cluster === undefined || isSafeInCluster(server.version)) return undefined;
  const which = server.name === undefined ? 'a NATS server' : `NATS server ${server.name}`;
  return `${which} of cluster ${server.cluster} has version ${server.version}, with which a cluster may acknowledge two holders of one lease: install 2.12.12 or later of 2.12, or 2.14.3 or newer, on every server of it`;
}

/**
 * Why services must not begin on these servers, in one line; undefined: they may.
 * @param replicas copies that the configuration asks for
 */
export function serversRefusal(servers: readonly NatsServer[], replicas: number): string | undefined {
  for (const server of servers) {
    const why = serverRefusal(server);
    if (why !== undefined) return why;
  }
  const [first] = servers;
  if (first === undefined) return undefined;
  const stranger = servers.find(
    (s) => s.name !== first.name && (s.cluster ?? s.name) !== (first.cluster ?? first.name),
  );
  if (stranger !== undefined)
    return `NATS servers ${place(first)} and ${place(stranger)} keep separate stores: name servers of one cluster in nats.servers`;
  if (first.cluster === undefined && replicas > 1)
    return `replicas: ${replicas} needs a cluster of NATS, and ${first.name} is a single server: set replicas: 1 in muster.yaml, or make it a cluster as docs/three-hosts.md says`;
  if (first.cluster !== undefined && replicas === 1)
    return `replicas: 1 on NATS cluster ${first.cluster} would lose records with the one server that keeps them: set replicas: 3 in muster.yaml (docs/three-hosts.md)`;
  return undefined;
}

const place = (s: NatsServer): string =>
  `${s.name} (${s.cluster === undefined ? 'no cluster' : `cluster ${s.cluster}`})`;

/**
 * What a single server lacks, in one line; undefined: nothing that is known.
 * @param syncAlways whether it writes to its disk before it acknowledges; undefined: it could not be asked
 */
export function singleServerLack(server: NatsServer, syncAlways: boolean | undefined): string | undefined {
  if (server.cluster !== undefined) return undefined;
  if (!isRecommendedAlone(server.version))
    return `NATS ${server.version} may lose what it acknowledged in the last two minutes when its machine loses power: 2.10.23 or newer with sync_interval: always does not`;
  return syncAlways === false
    ? 'NATS may lose what it acknowledged in the last two minutes when its machine loses power: set sync_interval: always in the jetstream block of nats.conf'
    : undefined;
}
