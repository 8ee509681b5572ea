import { isKeyIds } from './datagram-key-set.js';
import { isUnsentByNetwork, type Unsent } from './unsent.js';
import { isCount, isText } from './wire-checks.js';

/**
 * Of one peer on one network: consecutive misses, rtt in µs or -1 where none is known, and where some were lost how
 * many in a thousand of the judged probes of about the last minute.
 */
export type LinkObservation = [misses: number, rttUs: number, lostPermille?: number];
/** Per peer: name, then per network (in the report's order) what is seen of it. */
export type PeerObservation = [name: string, links: LinkObservation[]];

/** What an agent tells of itself, for metrics and for people. Counts are since the start of its process. */
export interface AgentMetrics {
  /** Of the Muster that it came with. Absent: an agent of an earlier one. */
  version?: string;
  /** Its wall clock when the report was made, ms. Absent: as above. */
  wallMs?: number;
  rssBytes: number;
  /** ms of processor time. */
  cpuMs: number;
  /** Times that its loop stood still for longer than `loopGap`, so that it abstained. */
  standstills: number;
  /** Datagrams. */
  sent: number;
  /** Probes that did not leave this host. Absent: an agent of an earlier Muster. */
  unsent?: number;
  received: number;
  /** Ignored, by reason: `mac` are forged or of another cluster, `late-or-duplicate` may be a replay. */
  dropped: Record<string, number>;
  rejoin: RejoinCounts;
}

/** What the rejoin loop has done. */
export interface RejoinCounts {
  /** Runs, by what began them: `timer`, `peer-list`, `nats`, `link-up`, `heard`. */
  runs: Record<string, number>;
  /** Peers that were lost, rejoin attempts that were sent (`greeted`), peers that became members again by one. */
  lost: number;
  greeted: number;
  joined: number;
  /** Peers that are lost now. */
  lostNow: number;
}

export interface AgentHealth {
  /** The loop ran late (a gap over 250 ms) or sends failed: this observer's silence says nothing. */
  abstain: boolean;
  reason?: string;
  /** Send errors in a row per network, to whomever, where nothing leaves at all: evidence against the observer itself. */
  sendErrors: Record<string, number>;
  /** Network → to whom its probes do not leave, be it everybody. Absent: they all do. */
  unsent?: Record<string, Unsent>;
  /** Largest gap of the probe loop since the last report, ms. */
  loopGapMs: number;
  /**
   * What is not as it should be yet no reason to abstain, e.g. `peer list: …` where an old one is in use. For alarms;
   * `duplicate: …` is evidence. What a reader had to leave out of the report stands among them, as `report: …`.
   */
  warnings?: string[];
  metrics?: AgentMetrics;
}

export interface RunningWorkload {
  name: string;
  generation: number;
  /** Its unit is being started, and may yet be refused by its gate: it may run, which proves no start. */
  starting?: true;
  /**
   * Before each start of it there, at a boot too, the start gate is asked. False: what the node starts by itself may run
   * beside its copy elsewhere. Absent: an agent of before, which does not tell, and so vouches for none.
   */
  gated?: boolean;
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
  /**
   * The agent's monotonic clock when it was sent, whole ms: by their differences a reader knows which reports were late.
   * Absent: an agent of an earlier Muster.
   */
  sentMs?: number;
  /** Version of the peer list that the observations rest on. */
  listVersion: number;
  networks: string[];
  /** Which keys it has for its datagrams, see `keyId`; the first signs. Absent: an agent of an earlier Muster. */
  keys?: string[];
  peers: PeerObservation[];
  health: AgentHealth;
  /** Absent: the agent has no lister, or it failed; a reader must not take that for "runs nothing". */
  workloads?: RunningWorkload[];
  leaving?: Leaving;
}

/** Characters of a sentence in a report at most. */
const SENTENCE = 1024;
/** Workloads that a report tells of at most. */
const MOST_RUNNING = 10_000;

/** As long as a report may carry it: what a tool printed can be of any length. */
export const asSentence = (text: string): string =>
  text.length <= SENTENCE ? text : `${text.slice(0, SENTENCE - 1)}…`;

/** What runs on a node, all of it, as a report may carry it: one that is off makes the whole list worthless. */
export const isRunningList = (x: unknown): x is RunningWorkload[] =>
  Array.isArray(x) && x.length <= MOST_RUNNING && x.every(isRunning);

const isRunning = (x: unknown): x is RunningWorkload => {
  if (typeof x !== 'object' || x === null) return false;
  const { name, generation, starting, gated } = x as Partial<RunningWorkload>;
  const isFlag = (y: unknown): boolean => y === undefined || typeof y === 'boolean';
  return isText(name) && isCount(generation) && isFlag(starting) && isFlag(gated);
};

const isLink = (x: unknown): x is LinkObservation =>
  Array.isArray(x) &&
  (x.length === 2 || (x.length === 3 && isCount(x[2]) && x[2] <= 1000)) &&
  isCount(x[0]) &&
  // JSON can say 1e400, which is Infinity.
  Number.isFinite(x[1]);

const isCounts = (x: unknown): x is Record<string, number> =>
  typeof x === 'object' && x !== null && !Array.isArray(x) && Object.values(x).every(isCount);

function isMetrics(x: unknown): x is AgentMetrics {
  if (typeof x !== 'object' || x === null) return false;
  const {
    rssBytes,
    cpuMs,
    standstills,
    sent,
    unsent = 0,
    received,
    dropped,
    rejoin,
    version,
    wallMs,
  } = x as Partial<AgentMetrics>;
  if ((version !== undefined && !isText(version, 64)) || (wallMs !== undefined && !isCount(wallMs))) return false;
  if (![rssBytes, cpuMs, standstills, sent, unsent, received].every(isCount) || !isCounts(dropped)) return false;
  if (typeof rejoin !== 'object' || rejoin === null || !isCounts(rejoin.runs)) return false;
  return [rejoin.lost, rejoin.greeted, rejoin.joined, rejoin.lostNow].every(isCount);
}

/** The last text, and what was read from it. */
let latest: { text: string; report: Report | undefined } | undefined;

/**
 * As {@link readReport}, read once: an agent sends its report over each of its networks, and one process may hear it for
 * several services. They have one object of it together, which nobody changes.
 */
export function parseReport(text: string): Report | undefined {
  if (latest?.text !== text) latest = { text, report: readReport(text) };
  return latest.report;
}

/**
 * A report from the wire, or undefined where anything of what makes up its votes is off. What stands beside them (words,
 * metrics, what runs there) is left out where it is off, and a warning says so: whoever prints nonsense about its
 * workloads shall not take the node's voice away. Written by hand: a detector of 1,000 nodes parses 2,000 a second, where
 * a decorator-driven validator would take a core.
 */
function readReport(text: string): Report | undefined {
  let r: Partial<Report>;
  try {
    r = JSON.parse(text) as Partial<Report>;
  } catch {
    return undefined;
  }
  if (typeof r !== 'object' || r === null || r.v !== 1) return undefined;
  if (!isText(r.node) || !isText(r.bootId) || !isCount(r.epoch) || !isCount(r.seq) || !isCount(r.listVersion))
    return undefined;
  if (r.sentMs !== undefined && !isCount(r.sentMs)) return undefined;
  const networks = r.networks;
  if (!Array.isArray(networks) || networks.length < 1 || networks.length > 4 || !networks.every((n) => isText(n)))
    return undefined;
  if (new Set(networks).size !== networks.length) return undefined;
  if (!Array.isArray(r.peers) || r.peers.length > 4096) return undefined;
  const named = new Set<string>();
  for (const peer of r.peers as unknown[]) {
    if (!Array.isArray(peer) || peer.length !== 2 || !isText(peer[0]) || named.has(peer[0])) return undefined;
    named.add(peer[0]);
    const links = peer[1] as unknown;
    if (!Array.isArray(links) || links.length !== networks.length) return undefined;
    for (const link of links as unknown[]) {
      if (!isLink(link)) return undefined;
    }
  }
  const h = r.health as Partial<AgentHealth> | undefined;
  if (typeof h !== 'object' || h === null || typeof h.abstain !== 'boolean' || !Number.isFinite(h.loopGapMs))
    return undefined;
  if (!isCounts(h.sendErrors) || (h.unsent !== undefined && !isUnsentByNetwork(h.unsent))) return undefined;
  if (r.leaving !== undefined) {
    const l = r.leaving;
    if (typeof l !== 'object' || l === null || !isText(l.bootId) || !['reboot', 'poweroff', 'stop'].includes(l.kind))
      return undefined;
  }
  leaveOutBroken(r as Report);
  return r as Report;
}

/** A list of workloads is good as a whole or unknown: one that lacks a workload would say that it does not run. */
function leaveOutBroken(r: Report): void {
  const h = r.health;
  const notes: string[] = [];
  if (h.reason !== undefined && !isText(h.reason, SENTENCE)) {
    delete h.reason;
    notes.push('its reason to abstain');
  }
  if (h.metrics !== undefined && !isMetrics(h.metrics)) {
    delete h.metrics;
    notes.push('its metrics');
  }
  if (r.workloads !== undefined && !isRunningList(r.workloads)) {
    delete r.workloads;
    notes.push('what runs there, which counts as unknown');
  }
  if (r.keys !== undefined && !isKeyIds(r.keys)) {
    delete r.keys;
    notes.push('which keys it has');
  }
  const said: unknown = h.warnings;
  if (said !== undefined) {
    // One by one: among them may be evidence that two machines use one name.
    const words = (Array.isArray(said) ? said : []).filter((w): w is string => typeof w === 'string' && w !== '');
    if (!Array.isArray(said) || words.length < said.length) notes.push('a warning');
    h.warnings = words.map(asSentence);
  }
  if (notes.length > 0) h.warnings = [...(h.warnings ?? []), `report: cannot be read: ${notes.join('; ')}`];
}
