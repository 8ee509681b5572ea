import {
  GateCodes,
  identityStanding,
  knownIdentity,
  isEndedJob,
  isLifeSignWaived,
  waitsForMoves,
  silence,
  type ClusterSettings,
  type GateCode,
  type GateResult,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Verdict,
} from '#contracts';
import type { BrokerHosts } from './broker-hosts.js';
import { lifeSigns, looksIn, type HostLife } from './life-signs.js';
import { askStorm } from './storm-gate.js';
import type { StormFacts } from './storm.js';

/** A host whose kernel answers and that serves nothing is held for this long, then the policy `hung` decides. */
export const HUNG_HOLD_MS = 10_000;

/**
 * All that the gates look at, gathered by the caller. What could not be learnt is left out, and each gate has its
 * documented answer for that: it stops. Nothing unknown ever lets a power-off through.
 */
export interface GateFacts {
  cause: 'auto' | 'manual';
  /** By the policy that treats a node as DOWN that stays DEGRADED. */
  degraded?: boolean;
  node: NodeRecord;
  /** The incident that asks; absent: a dry run, or one that is about to be opened. */
  incident?: IncidentRecord | undefined;
  /** The open incident of this node, if any. */
  open?: IncidentRecord | undefined;
  /** The detector's view as of now. Missing: blind. */
  detector?: { fresh: boolean; sighted: boolean; members: number; reporters: number } | undefined;
  /** The verdict as of now. Missing: no evidence that it is dead, and none that it is not. */
  verdict?: Verdict | undefined;
  settings?: ClusterSettings | undefined;
  /** Job that holds a reservation on the node. `undefined` in a known view: none. Missing view: treated as reserved. */
  reservedBy?: { known: boolean; job?: JobRecord | undefined; by?: string | undefined } | undefined;
  /** ms since this process received the node's own last report. Missing: none was seen. */
  ownReportAgeMs?: number | undefined;
  /** How long, on the asker's clock, the host has been hung without a break. Missing: as if just seen. */
  hungForMs?: number | undefined;
  /** What the power devices answered at SUSPECT. */
  power?: 'on' | 'off' | 'unknown' | undefined;
  storm?: StormFacts | undefined;
  /** Broker hosts that are nodes of this fleet. Missing: the quorum is in doubt. */
  broker?: BrokerHosts | undefined;
  /** Live fencers that run elsewhere than on this node. */
  otherFencers?: number | undefined;
  /** A device of it that is where another node has its own: an off could reach either. */
  sharedPlace?: { device: string; place: string; node: string } | undefined;
  /** Wall clock, ms: for `paused.until`, which a person gave as a time of day. */
  wallNow: number;
}

type Gate = (f: GateFacts) => { pass: boolean; detail: string };
const pass = (detail: string): { pass: boolean; detail: string } => ({ pass: true, detail });
const stop = (detail: string): { pass: boolean; detail: string } => ({ pass: false, detail });
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Missing input: stops, for who cannot see must not judge. */
const blind: Gate = (f) => {
  const d = f.detector;
  if (d === undefined || !d.fresh)
    return stop('No beacon of an active detector within 3 s: its verdicts count as UNKNOWN.');
  if (!d.sighted) return stop(`The detector is blind: ${d.reporters} of ${d.members} members report to it.`);
  const judged = f.verdict?.verdict;
  if (f.cause === 'auto' && judged !== 'DOWN' && !(f.degraded === true && judged === 'DEGRADED'))
    return stop(`The verdict as of now is ${judged ?? 'not known'}, not DOWN.`);
  const out = f.verdict?.evidence.networksOut ?? [];
  const networks = Object.keys(f.node.networks).filter((network) => !out.includes(network)).length;
  const needsPower = d.members <= 2 || networks < 2;
  if (needsPower && f.cause === 'auto' && f.power !== 'on' && f.power !== 'off')
    return stop(
      `With ${d.members} members and ${networks} network(s)${out.length > 0 ? ` (${out.join(', ')} is out)` : ''} the power device's answer stands for the missing witness, and it gave none.`,
    );
  return pass(`${d.reporters} of ${d.members} members report to the detector.`);
};

/** Reasons against fencing this node that no release can lift: there is nothing that is known to switch off this one. */
export function unfenceable(f: Pick<GateFacts, 'node' | 'otherFencers' | 'sharedPlace'>): string | undefined {
  if (!f.node.powerLevels.some((level) => level.length > 0)) return 'It has no power device.';
  if (f.sharedPlace !== undefined)
    return `Its power device ${f.sharedPlace.device} is at ${f.sharedPlace.place}, where ${f.sharedPlace.node} has its own: an off could reach either.`;
  const foreign = f.node.powerLevels.flat().find((d) => identityStanding(f.node, d) === 'mismatch');
  if (foreign !== undefined)
    return `Its power device ${foreign.id} is not its own: ${knownIdentity(f.node, foreign)?.why ?? 'its identity differs'}.`;
  if (f.otherFencers === undefined) return 'It is not known which fencers are alive.';
  if (f.otherFencers === 0) return 'No live fencer runs outside of it.';
  return undefined;
}

/** Missing input (reservations, fencers): stops. */
const notFenceable: Gate = (f) => {
  const hard = unfenceable(f);
  if (hard !== undefined) return stop(hard);
  const n = f.node;
  if (n.cordon !== undefined) return stop(`It is cordoned by ${n.cordon.by}: ${n.cordon.reason}.`);
  const r = f.reservedBy;
  // A job that waits until workloads have moved away has done nothing to it: what it still runs must be recovered.
  const untouched = r?.known === true && r.job !== undefined && waitsForMoves(r.job);
  if (n.status !== 'Allocated' && !untouched) return stop(`Its status is ${n.status}, not Allocated.`);
  if (f.cause === 'auto' && n.fencing === 'manual') return stop('Its fencing is manual: an operator decides.');
  if (r === undefined || !r.known) return stop('It is not known whether a job holds it.');
  if (r.job !== undefined && !isEndedJob(r.job) && !untouched)
    return stop(`The ${r.job.kind} job ${r.job.id} holds it.`);
  if (r.job === undefined && r.by !== undefined) return stop(`${r.by} holds it.`);
  const devices = n.powerLevels.reduce((sum, level) => sum + level.length, 0);
  return pass(`Allocated, not cordoned, held by no job, ${devices} power device(s).`);
};

/** Input is the incident's own key, so it cannot be missing. */
const alreadyOpen: Gate = (f) =>
  f.open !== undefined && f.open.id !== f.incident?.id
    ? stop(`Incident ${f.open.id} of this node is ${f.open.phase}.`)
    : pass('No other incident of this node is open.');

/** What speaks for life, strongest first: the node's own word, that others hear it, and what its host shows. */
export interface LifeSign {
  kind: 'report' | 'echo' | 'heard' | HostLife['state'];
  detail: string;
}

/** The strongest sign of life; `unknown` where nobody has looked: that holds like a sign. */
export function lifeSign(f: Pick<GateFacts, 'settings' | 'verdict' | 'ownReportAgeMs' | 'node'>): LifeSign {
  const { settings, verdict: v } = f;
  if (settings === undefined) return { kind: 'unknown', detail: 'The settings of detection are not known.' };
  const x = silence(settings.detection);
  const reportAge = Math.min(f.ownReportAgeMs ?? Infinity, v?.evidence.ownReportAgeMs ?? Infinity);
  if (reportAge <= x - settings.detection.interval)
    return { kind: 'report', detail: `Its own report came ${seconds(reportAge)} ago.` };
  if (v === undefined) return { kind: 'unknown', detail: 'There is no verdict on it, so no evidence.' };
  if (v.verdict === 'UP' || v.verdict === 'DEGRADED') return { kind: 'heard', detail: `The verdict is ${v.verdict}.` };
  const probe = v.evidence.ownProbe;
  if (probe !== undefined && probe.echo.length > 0)
    return { kind: 'echo', detail: `It echoes to the detector over ${probe.echo.join(', ')}.` };
  const hears = [...new Set(v.evidence.observers.filter((o) => o.stance === 'hears').map((o) => o.observer))];
  if (hears.length > 0)
    return { kind: 'heard', detail: `${hears.slice(0, 5).join(', ')} still hear${hears.length === 1 ? 's' : ''} it.` };
  const waived = isLifeSignWaived(f.node, settings.hostGroups);
  const { left } = v.evidence;
  const { state, detail } = lifeSigns({ ...looksIn(v.evidence), waived, ...(left && { left }) });
  return { kind: state, detail };
}

/** Missing input (no look, no settings): stops. */
const life: Gate = (f) => {
  const sign = lifeSign(f);
  if (sign.kind === 'dead') return pass(`No report, no echo at anyone. ${sign.detail}`);
  if (sign.kind !== 'hung') return stop(sign.detail);
  const held = f.hungForMs ?? 0;
  if (held < HUNG_HOLD_MS)
    return stop(`${sign.detail} Held for ${seconds(HUNG_HOLD_MS)}, ${seconds(held)} have passed.`);
  return f.settings?.fencing.hung === 'fence'
    ? pass(`${sign.detail} For ${seconds(held)}; the policy for hung hosts is to fence.`)
    : stop(`${sign.detail} For ${seconds(held)}; the policy for hung hosts is to alarm.`);
};

/** Missing input: stops. */
const ofStorm =
  (gate: 'BRAKE' | 'DOMAIN' | 'CAP' | 'FLAPPING'): Gate =>
  (f) =>
    f.storm === undefined
      ? stop('It is not known how many others are in trouble.')
      : askStorm(gate, f.storm, f.node, f.incident?.id);

/** Missing input: stops. One server that is not on this node survives; of several, more than half must stay. */
const quorum: Gate = (f) =>
  f.broker === undefined || f.broker.servers.length === 0
    ? stop('It is not known where the servers of the bus run.')
    : brokerMajority(f.broker);

export function brokerMajority(b: BrokerHosts): { pass: boolean; detail: string } {
  if (b.unresolved.length > 0)
    return stop(`It is not known at which address these servers of the bus are: ${b.unresolved.join(', ')}.`);
  const left = b.servers.length - new Set([...b.onThisNode, ...b.doubtful]).size;
  const text = `${left} of ${b.total} servers of the bus stay without it`;
  return b.onThisNode.length === 0 || left > b.total / 2 ? pass(`${text}.`) : stop(`${text}: no majority.`);
}

/** Missing settings: stops. */
const paused: Gate = (f) => {
  if (f.settings === undefined) return stop('The settings of fencing are not known.');
  const p = f.settings.fencing.paused;
  return p !== undefined && p.until > f.wallNow
    ? stop(`Fencing is paused by ${p.by} until ${new Date(p.until).toISOString()}: ${p.reason}.`)
    : pass('Fencing is not paused.');
};

/** Missing settings: stops. */
const observe: Gate = (f) =>
  f.settings?.fencing.mode === 'enforce'
    ? pass('The mode is enforce.')
    : stop(
        f.settings === undefined
          ? 'The mode of fencing is not known.'
          : 'The mode is observe: decide, but write to no power device.',
      );

const gates: Record<GateCode, Gate> = {
  BLIND: blind,
  NOT_FENCEABLE: notFenceable,
  ALREADY_OPEN: alreadyOpen,
  LIFE_SIGN: life,
  BRAKE: ofStorm('BRAKE'),
  DOMAIN: ofStorm('DOMAIN'),
  CAP: ofStorm('CAP'),
  QUORUM: quorum,
  PAUSED: paused,
  OBSERVE: observe,
  FLAPPING: ofStorm('FLAPPING'),
};

/** These no operator can release: there is nothing to release to, or the setting itself is the way to say so. */
export const neverReleased: readonly GateCode[] = ['ALREADY_OPEN', 'QUORUM', 'PAUSED', 'OBSERVE'];
/** These are released only with force: the node may well be alive. */
export const releasedByForce: readonly GateCode[] = ['BLIND', 'LIFE_SIGN'];

/** Every gate in order, also behind the first that stops: a dry run and an incident show them all. */
export const askGates = (f: GateFacts): GateResult[] => GateCodes.map((gate) => ({ gate, ...gates[gate](f) }));

/** The first gate that stops and was not released. */
export function stoppingGate(
  results: GateResult[],
  released: readonly GateCode[] = [],
  facts?: GateFacts,
): GateResult | undefined {
  return results.find((r) => {
    if (r.pass) return false;
    if (!released.includes(r.gate) || neverReleased.includes(r.gate)) return true;
    return r.gate === 'NOT_FENCEABLE' && facts !== undefined && unfenceable(facts) !== undefined;
  });
}
