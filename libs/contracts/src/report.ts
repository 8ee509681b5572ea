/** Per peer: name, then per network (in the report's order) [misses, rtt in µs or -1 where none is known]. */
export type PeerObservation = [name: string, links: [misses: number, rttUs: number][]];

export interface AgentHealth {
  /** The loop ran late (a gap over 250 ms) or sends failed: this observer's silence says nothing. */
  abstain: boolean;
  reason?: string;
  /** Consecutive send errors per network, evidence against the observer itself. */
  sendErrors: Record<string, number>;
  /** Largest gap of the probe loop since the last report, ms. */
  loopGapMs: number;
  /** What is not as it should be yet no reason to abstain, e.g. `peer list: …` where an old one is in use. For alarms. */
  warnings?: string[];
}

export interface RunningWorkload {
  name: string;
  generation: number;
  /** Its unit is being started, and may yet be refused by its gate: it may run, which proves no start. */
  starting?: true;
}

export interface Leaving {
  kind: 'reboot' | 'poweroff' | 'stop';
  bootId: string;
}

/**
 * `muster.report.<node>`: what one agent sees, each second and at once on change. The same report goes out on the
 * connection of every network; receivers keep the first by (epoch, seq).
 */
export interface Report {
  v: 1;
  node: string;
  bootId: string;
  /** Grows with every start of the agent. */
  epoch: number;
  seq: number;
  /** Version of the peer list that the observations rest on. */
  listVersion: number;
  networks: string[];
  peers: PeerObservation[];
  health: AgentHealth;
  /** Absent: the agent has no lister, or it failed; a reader must not take that for "runs nothing". */
  workloads?: RunningWorkload[];
  leaving?: Leaving;
}

const isCount = (x: unknown): x is number => typeof x === 'number' && Number.isSafeInteger(x) && x >= 0;
const isText = (x: unknown, most = 128): x is string => typeof x === 'string' && x.length > 0 && x.length <= most;

/**
 * A report from the wire, or undefined where anything about it is off. Written by hand: a detector of 1,000 nodes
 * parses 2,000 a second, where a decorator-driven validator would take a core.
 */
export function parseReport(text: string): Report | undefined {
  let r: Partial<Report>;
  try {
    r = JSON.parse(text) as Partial<Report>;
  } catch {
    return undefined;
  }
  if (typeof r !== 'object' || r === null || r.v !== 1) return undefined;
  if (!isText(r.node) || !isText(r.bootId) || !isCount(r.epoch) || !isCount(r.seq) || !isCount(r.listVersion))
    return undefined;
  const networks = r.networks;
  if (!Array.isArray(networks) || networks.length < 1 || networks.length > 4 || !networks.every((n) => isText(n)))
    return undefined;
  if (!Array.isArray(r.peers) || r.peers.length > 4096) return undefined;
  for (const peer of r.peers as unknown[]) {
    if (!Array.isArray(peer) || peer.length !== 2 || !isText(peer[0])) return undefined;
    const links = peer[1] as unknown;
    if (!Array.isArray(links) || links.length !== networks.length) return undefined;
    for (const link of links as unknown[]) {
      if (!Array.isArray(link) || link.length !== 2 || !isCount(link[0]) || typeof link[1] !== 'number')
        return undefined;
    }
  }
  const h = r.health as Partial<AgentHealth> | undefined;
  if (typeof h !== 'object' || h === null || typeof h.abstain !== 'boolean' || typeof h.loopGapMs !== 'number')
    return undefined;
  if (h.warnings !== undefined && !(Array.isArray(h.warnings) && h.warnings.every((w) => isText(w, 1024))))
    return undefined;
  if (typeof h.sendErrors !== 'object' || h.sendErrors === null || !Object.values(h.sendErrors).every(isCount))
    return undefined;
  if (r.workloads !== undefined) {
    if (!Array.isArray(r.workloads) || r.workloads.length > 10_000) return undefined;
    if (!r.workloads.every((w) => typeof w === 'object' && w !== null && isText(w.name) && isCount(w.generation)))
      return undefined;
  }
  if (r.leaving !== undefined) {
    const l = r.leaving;
    if (typeof l !== 'object' || l === null || !isText(l.bootId) || !['reboot', 'poweroff', 'stop'].includes(l.kind))
      return undefined;
  }
  return r as Report;
}
