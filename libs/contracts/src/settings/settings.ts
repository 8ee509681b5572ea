import { MusterError } from '../errors/errors.js';
import type { HostGroup } from './host-group.js';

/** Numbers of detection. All ms. `interval` × `misses` is the silence timeout: after it an observer reports a node down. */
export interface DetectionSettings {
  /** Brings numbers of its own for all below: `lan`, `fast` (dead within 2 s), or `wan` (a network that delays and loses). */
  profile: 'lan' | 'fast' | 'wan';
  /** Between two probes of one peer on one network. Shorter finds a death earlier, and costs datagrams. @unit ms */
  interval: number;
  /**
   * Consecutive misses after which an observer reports a node down: times `interval` it is the silence timeout. Fewer
   * find a death earlier, and take a loss of datagrams for one. @unit probes
   */
  misses: number;
  /** Consecutive misses for SUSPECT, with which poll, own probe and the read of the BMC begin. @unit probes */
  suspectMisses: number;
  /** Between two reports of an agent. At most a third of the silence timeout: a lost report is none yet. @unit ms */
  reportPeriod: number;
  /**
   * A report older than this is no evidence. At most the silence timeout less `interval`: else a stale one could pass
   * for a fresh one. @unit ms
   */
  freshness: number;
  /**
   * An agent that stood still for longer voids its outstanding probes and abstains: it would report all others down for
   * what it missed itself. @unit ms
   */
  loopGap: number;
}

export const DetectionProfiles: Record<DetectionSettings['profile'], DetectionSettings> = {
  lan: {
    profile: 'lan',
    interval: 500,
    misses: 6,
    suspectMisses: 3,
    reportPeriod: 1000,
    freshness: 2500,
    loopGap: 250,
  },
  fast: {
    profile: 'fast',
    interval: 250,
    misses: 6,
    suspectMisses: 3,
    reportPeriod: 500,
    freshness: 1250,
    loopGap: 250,
  },
  wan: {
    profile: 'wan',
    interval: 1000,
    misses: 10,
    suspectMisses: 5,
    reportPeriod: 2000,
    freshness: 6000,
    loopGap: 500,
  },
};

/** The silence timeout, ms: after it an observer reports a node down. */
export const silenceTimeout = (d: DetectionSettings): number => d.interval * d.misses;

/** Refuses numbers with which a stale report could pass for a fresh one. */
export function checkDetection(d: DetectionSettings): DetectionSettings {
  const timeout = silenceTimeout(d);
  const wrong: string[] = [];
  for (const [name, value] of Object.entries(d))
    if (name !== 'profile' && !(Number.isInteger(value) && (value as number) > 0))
      wrong.push(`${name} must be a positive whole number of ms or probes`);
  if (d.freshness > timeout - d.interval)
    wrong.push(`freshness (${d.freshness}) must be at most the silence timeout − interval (${timeout - d.interval})`);
  if (d.reportPeriod > timeout / 3)
    wrong.push(`reportPeriod (${d.reportPeriod}) must be at most a third of the silence timeout (${timeout / 3})`);
  if (d.suspectMisses >= d.misses) wrong.push('suspectMisses must be lower than misses');
  if (wrong.length > 0) throw new MusterError('SETTINGS_INVALID', `detection: ${wrong.join('; ')}`);
  return d;
}

/**
 * When so many nodes fall that the cause is rather ours, a switch or a room, than the nodes: limits of the gates BRAKE,
 * CAP and FLAPPING. Of each `…AtLeast` and `…Share` the larger counts; M is the number of members.
 */
export interface StormLimits {
  /**
   * Nodes that may be silent or in an incident at once, however small the fleet: more are rather a switch or a room,
   * and an operator is asked. @default 2 @unit nodes
   */
  brakeAtLeast: number;
  /** The same as a share of the members; the larger of both counts. @default 0.2 @unit share, 0 to 0.5 */
  brakeShare: number;
  /** Fencings within 10 min, however small the fleet: whatever is wrong, it goes no faster. @default 3 @unit nodes */
  capAtLeast: number;
  /** The same as a share of the members; the larger of both counts. @default 0.1 @unit share, 0 to 1 */
  capShare: number;
  /**
   * Fencings of one node within 10 min, and returns of one, before an operator is asked: one that comes and goes has a
   * cause that no power-off mends. @default 3 @unit times
   */
  flaps: number;
}

export const defaultStorm: StormLimits = { brakeAtLeast: 2, brakeShare: 0.2, capAtLeast: 3, capShare: 0.1, flaps: 3 };

/** At most so many unhealthy nodes at once: beyond that the cause is rather ours, a switch or a room than the nodes. */
export const brakeLimit = (members: number, l: StormLimits): number =>
  Math.max(l.brakeAtLeast, Math.floor(l.brakeShare * members));

/** At most so many permits in ten minutes. */
export const capLimit = (members: number, l: StormLimits): number =>
  Math.max(l.capAtLeast, Math.floor(l.capShare * members));

/** Refuses limits that would stop every fencing, or none: beyond half of the fleet nobody can tell who is cut off. */
function checkStorm(s: StormLimits): StormLimits {
  const wrong: string[] = [];
  for (const name of ['brakeAtLeast', 'capAtLeast', 'flaps'] as const)
    if (!(Number.isInteger(s[name]) && s[name] >= 1))
      wrong.push(`${name} (${s[name]}) must be a whole number from 1 on`);
  for (const [name, most] of [
    ['brakeShare', 0.5],
    ['capShare', 1],
  ] as const)
    if (!(typeof s[name] === 'number' && s[name] >= 0 && s[name] <= most))
      wrong.push(`${name} (${s[name]}) must be from 0 to ${most}`);
  if (wrong.length > 0) throw new MusterError('SETTINGS_INVALID', `fencing.storm: ${wrong.join('; ')}`);
  return s;
}

/** Limits of which only some are given, on top of others. SETTINGS_INVALID names what is wrong. */
export function readStorm(given: unknown, base: StormLimits = defaultStorm): StormLimits {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new MusterError('SETTINGS_INVALID', 'fencing.storm must be a mapping');
  for (const name of Object.keys(given))
    if (!(name in defaultStorm)) throw new MusterError('SETTINGS_INVALID', `fencing.storm.${name} is not a setting`);
  return checkStorm({ ...base, ...given });
}

export interface FencingPause {
  /** When it ends by itself, by the wall clock. Absent: until a person ends it. @unit ms since 1970 */
  until?: number;
  /** Why, for people. */
  reason: string;
  /** Who paused it. */
  by: string;
}
/** Absent: it never was, or is over. @param wallNow ms: a pause ends by the time of day, as people set it */
export const isPaused = (p: FencingPause | undefined, wallNow: number): p is FencingPause =>
  p !== undefined && (p.until === undefined || p.until > wallNow);
/** When it ends, for people. */
export const pauseEnd = (p: FencingPause): string =>
  p.until === undefined ? 'until somebody ends it' : `until ${new Date(p.until).toISOString()}`;

export interface FencingSettings {
  /**
   * `observe`: everything is decided and recorded, and no power device is written to. `enforce`: dead nodes are powered
   * off. @default 'observe'
   */
  mode: 'observe' | 'enforce';
  /** Nothing is powered off, with the reason. Ended by itself, or by `muster fencing set`. */
  paused?: FencingPause;
  /**
   * What follows when for 10 s only the kernel of a host has answered: it serves nobody. `fence` as for DOWN; `alarm`
   * leaves it to an operator. @default 'fence'
   */
  hung: 'alarm' | 'fence';
  /**
   * What becomes of a node that was powered off, when its work runs elsewhere.
   * @default 'power-on' (once in 24 h, then stay-off)
   */
  afterRecovery: 'power-on' | 'stay-off';
  /** How much may be fenced at once: gates BRAKE, CAP and FLAPPING. */
  storm: StormLimits;
}

/**
 * As it counts now: a pause whose time is over is none, though the record keeps it.
 * @param wallNow wall clock of the asker, ms
 */
export function fencingNow(f: FencingSettings, wallNow: number): FencingSettings {
  if (f.paused === undefined || isPaused(f.paused, wallNow)) return f;
  const { paused: _over, ...rest } = f;
  return rest;
}

export const defaultFencing: FencingSettings = {
  mode: 'observe',
  hung: 'fence',
  afterRecovery: 'power-on',
  storm: defaultStorm,
};

/** Numbers of the fencer. All ms. */
export const FencingNumbers = {
  /** One BMC command, from start to kill. */
  commandLimit: 6_000,
  /** A BMC may carry out a command this much later than we asked (4 s was measured; the rest is room). */
  deviceLag: 10_000,
  /** First level's share, and all levels together. */
  firstLevel: 12_000,
  allLevels: 20_000,
  /** Between the two proving off-reads. */
  readGap: 200,
  /** The same where the device was already off before the first command. */
  readGapAlreadyOff: 2_000,
} as const;

/** Power quarantine, ms: after a command ended or its owner was lost, nobody powers on, releases or re-sets-up the node for this long. */
export const POWER_QUARANTINE_MS = FencingNumbers.commandLimit + FencingNumbers.deviceLag;

export const defaultHostGroups: HostGroup[] = [
  { name: 'service-master', role: 'master' },
  { name: 'service-worker', role: 'worker' },
];

/** The part of the Ansible configuration that may change at run time: on top of `ansible` in `muster.yaml`. */
export interface AnsibleSettings {
  /** Folder of the playbooks. */
  playbooks?: string;
  /** ssh user on the nodes. */
  user?: string;
  /** File of the ssh key, on the provisioners' machine. */
  privateKey?: string;
  /** Replace those of the same name in `muster.yaml`; `null`: that one is not given. No templates. */
  extraVars?: Record<string, unknown>;
  /** What sets a node up: its name in the folder. */
  sitePlaybook?: string;
  /** What takes away all that was set up. */
  cleanupPlaybook?: string;
  /**
   * Run by nobody: an update is cleanup, then site. Known to clients of the contiv cluster manager, and kept for them.
   * @default 'rolling-upgrade.yml'
   */
  upgradePlaybook?: string;
}

/** Where alarms are sent as they are raised and cleared: POST of the alarm event as JSON. */
export interface Webhook {
  /** Unique; alarm `webhook-failing` names it. */
  name: string;
  /** `http(s)://…`; no link-local address, and no metadata of a cloud. */
  url: string;
  /** Key of an HMAC-SHA256 over the body, sent as `x-muster-signature: sha256=<hex>`; never shown. */
  secret?: string;
  /** Alarms below it are not sent. @default 'warning' */
  severity?: 'info' | 'warning' | 'critical';
}

/** What follows when a network of a node has been silent for `after` ms. */
export interface DegradedSettings {
  /**
   * `alarm`: nothing but that. `drain`: its workloads are moved by stop and start while it can still be reached. `down`:
   * an incident is opened as for DOWN; whoever still echoes is held by gate LIFE_SIGN until an operator releases it,
   * for nobody is powered off on the word of one network. @default 'alarm'
   */
  policy: 'alarm' | 'drain' | 'down';
  /** So long a network of a node is silent before that: a switch that restarts is no reason. @default 30000 @unit ms */
  after: number;
}

export const defaultDegraded: DegradedSettings = { policy: 'alarm', after: 30_000 };

/** Checks of nodes that are in service and well. */
export interface CheckSettings {
  /** Each node in service is checked once in so long: 0 for never, else a minute to thirty days. @default 0 @unit ms */
  every: number;
}

export const defaultCheck: CheckSettings = { every: 0 };

/** Key `cluster` of bucket `settings`: one value, validated as one set. */
export interface ClusterSettings {
  /** Its name; not to be changed. */
  cluster: string;
  /** UDP port of the agents. @unit port */
  agentPort: number;
  detection: DetectionSettings;
  fencing: FencingSettings;
  /** Groups that nodes are commissioned to: `{name, role: master | worker | none, onReturn: resetup | ask | check-only}`. */
  hostGroups: HostGroup[];
  /** Extra vars for every run; precedence configuration < globals < request. */
  globals: Record<string, unknown>;
  /**
   * How long a node may be silent after a planned reboot (`LEFT`), after a power-on by Muster (boot grace), and before its
   * first report.
   * @unit ms
   */
  leaveGrace: number;
  /** A management network that was silent for longer counts as a return when it is back: the node is checked. @unit ms */
  holdDown: number;
  /** What follows from DEGRADED. */
  degraded: DegradedSettings;
  /** Checks of nodes in service. */
  check: CheckSettings;
  /**
   * `host:port` of something that is no node, e.g. the router: with two members the monitor must reach it before it
   * calls the other one's silence a death. @default '' (none: with two members an operator decides)
   */
  witness?: string;
  /** Replaces `ansible` of `muster.yaml`, key by key. @default {} */
  ansible: AnsibleSettings;
  /** Where alarms are POSTed as they are raised, change and end. @default [] */
  webhooks: Webhook[];
  /** Habits of the contiv cluster manager on its surface. `force`: a decommission or an update moves workloads first. */
  compat: { force: boolean };
}

export const SETTINGS_KEY = 'cluster';

export const defaultSettings = (cluster: string): ClusterSettings => ({
  cluster,
  agentPort: 7946,
  detection: DetectionProfiles.lan,
  fencing: defaultFencing,
  hostGroups: defaultHostGroups,
  globals: {},
  leaveGrace: 600_000,
  holdDown: 5_000,
  degraded: defaultDegraded,
  check: defaultCheck,
  witness: '',
  ansible: {},
  webhooks: [],
  compat: { force: false },
});

/** Settings as they were stored, maybe by an older version: what it did not know has its default. */
export const completeSettings = (stored: ClusterSettings): ClusterSettings => ({
  ...defaultSettings(stored.cluster),
  ...stored,
  degraded: { ...defaultDegraded, ...stored.degraded },
  check: { ...defaultCheck, ...stored.check },
  fencing: { ...stored.fencing, storm: { ...defaultStorm, ...stored.fencing.storm } },
});
