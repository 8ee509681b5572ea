import { createHash } from 'node:crypto';
import {
  WatchPlan,
  type ClusterSettings,
  type DetectionSettings,
  type KeysInUse,
  type NodeRecord,
  type Peer,
  type PeerList,
} from '#contracts';
import { isMember } from '#domain/node/membership.js';

/** Everything that any agent's list is made of; two processes that see the same records make the same of them. */
export interface FleetContent {
  cluster: string;
  port: number;
  detection: DetectionSettings;
  /** Enrolled nodes, by name. */
  nodes: (Peer & { member: boolean })[];
  /** Absent: the datagrams' keys were never exchanged. */
  keys?: KeysInUse;
  /** Network → servers of NATS as agents reach them. Absent: it is not configured. */
  nats?: Record<string, string[]>;
}

/** @param nats network → servers of NATS as agents reach them, as configured: none is no news for who was enrolled with some */
export function fleetContent(
  nodes: readonly NodeRecord[],
  settings: ClusterSettings,
  keys?: KeysInUse,
  nats: Record<string, string[]> = {},
): FleetContent {
  return {
    cluster: settings.cluster,
    port: settings.agentPort,
    detection: settings.detection,
    nodes: nodes
      .filter((n) => n.enrolled)
      .map((n) => ({
        name: n.name,
        networks: byNetwork(
          Object.entries(n.networks).map(([network, { address }]): [string, string] => [network, address]),
        ),
        member: isMember(n),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(keys && { keys: { version: keys.version, keys: keys.keys } }),
    ...(Object.keys(nats).length > 0 && { nats: byNetwork(Object.entries(nats)) }),
  };
}

/** In one order, whatever the order of what it was made of. */
const byNetwork = <T>(entries: [network: string, value: T][]): Record<string, T> =>
  Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));

/** Tells one content from another. */
export const fleetHash = (c: FleetContent): string =>
  createHash('sha256').update(JSON.stringify(c)).digest('hex').slice(0, 32);

/** The lists of one content: the plan of who watches whom is drawn once. */
export class FleetLists {
  private readonly plan: WatchPlan;
  private readonly peers: Map<string, Peer>;

  constructor(
    private readonly content: FleetContent,
    readonly version: number,
  ) {
    this.plan = new WatchPlan(content.nodes);
    this.peers = new Map(content.nodes.map(({ name, networks }) => [name, { name, networks }]));
  }

  get names(): string[] {
    return [...this.peers.keys()];
  }

  /** Undefined: no agent is expected on that node. */
  of(name: string): PeerList | undefined {
    const self = this.peers.get(name);
    if (!self) return undefined;
    const { cluster, port, detection, keys } = this.content;
    const peers = this.plan.peersOf(name).flatMap((p) => this.peers.get(p) ?? []);
    const nats = Object.entries(this.content.nats ?? {}).filter(([network]) => network in self.networks);
    return {
      version: this.version,
      cluster,
      self,
      peers,
      port,
      detection,
      ...(keys && { keys }),
      ...(nats.length > 0 && { nats: Object.fromEntries(nats) }),
    };
  }
}
