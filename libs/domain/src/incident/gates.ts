import {
  GateCodes,
  isLifeSignWaived,
  isPaused,
  pauseEnd,
  phaseText,
  silenceTimeout,
  type ClusterSettings,
  type GateCode,
  type GateResult,
  type IncidentRecord,
  type Verdict,
} from '#contracts';
import { isHeardVerdict } from '../verdict/heard.js';
import { unfenceable, whyNotFenced, type FenceabilityFacts } from '../node/to-be-fenced.js';
import { brokerMajority, type BrokerHosts } from './broker-majority.js';
import { lifeSigns, observationsIn, type HostLife } from './life-signs.js';
import { askStorm } from './storm.js';
import { stormFigures, StormNumbers, type StormCount, type StormFacts, type StormGate } from './storm-counts.js';
import { isDownByPolicy } from './verdict-effect.js';

/** A host whose kernel answers and that serves nothing is held for this long, then the policy `hung` decides. */
const HUNG_HOLD_MS = 10_000;

/**
 * All that the gates look at, gathered by the caller. What could not be learnt is left out, and each gate has its
 * documented answer for that: it stops. Nothing unknown ever lets a power-off through.
 */
export interface GateFacts extends FenceabilityFacts {
  /** By the policy that treats a node as DOWN that stays DEGRADED. */
  degraded?: boolean;
  /** The incident that asks; absent: a dry run, or one that is about to be opened. */
  incident?: IncidentRecord | undefined;
  /** The open incident of this node, if any. */
  open?: IncidentRecord | undefined;
  /** The detector's view as of now. Missing: blind. */
  detector?: { fresh: boolean; sighted: boolean; members: number; reporters: number } | undefined;
  /** The verdict as of now. Missing: no evidence that it is dead, and none that it is not. */
  verdict?: Verdict | undefined;
  settings?: ClusterSettings | undefined;
  /** ms since this process received the node's own last report. Missing: none was seen. */
  ownReportAgeMs?: number | undefined;
  /** How long, on the asker's clock, the host has been hung without a break. Missing: as if just seen. */
  hungForMs?: number | undefined;
  /** What the power devices answered at SUSPECT. */
  power?: 'on' | 'off' | 'unknown' | undefined;
  storm?: StormFacts | undefined;
  /** Broker hosts that are nodes of this fleet. Missing: the quorum is in doubt. */
  broker?: BrokerHosts | undefined;
  /** Wall clock, ms: for `paused.until`, which a person gave as a time of day. */
  wallNow: number;
}

type Answer = Pick<GateResult, 'pass' | 'detail'>;
type Ask = (f: GateFacts) => Answer;
const pass = (detail: string): Answer => ({ pass: true, detail });
const stop = (detail: string): Answer => ({ pass: false, detail });
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Missing input: stops, for who cannot see must not judge. */
const blind: Ask = (f) => {
  const d = f.detector;
  if (d === undefined || !d.fresh)
    return stop('No beacon of an active detector within 3 s: its verdicts count as UNKNOWN.');
  if (!d.sighted) return stop(`The detector has no quorum: ${d.reporters} of ${d.members} members report to it.`);
  const judged = f.verdict?.verdict;
  if (f.cause === 'auto' && judged !== 'DOWN' && !isDownByPolicy(f, judged))
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

/** Missing input (reservations, fencers): stops. */
const notFenceable: Ask = (f) => {
  const reason = whyNotFenced(f);
  if (reason !== undefined) return stop(reason);
  const devices = f.node.powerLevels.reduce((sum, level) => sum + level.length, 0);
  return pass(`Allocated, not cordoned, held by no job that changes it, ${devices} power device(s).`);
};

/** Input is the incident's own key, so it cannot be missing. */
const alreadyOpen: Ask = (f) =>
  f.open !== undefined && f.open.id !== f.incident?.id
    ? stop(`Incident ${f.open.id} of this node is ${phaseText(f.open)}.`)
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
  const timeoutMs = silenceTimeout(settings.detection);
  const reportAge = Math.min(f.ownReportAgeMs ?? Infinity, v?.evidence.ownReportAgeMs ?? Infinity);
  const countsForMs = timeoutMs - settings.detection.interval;
  if (reportAge <= countsForMs)
    return {
      kind: 'report',
      detail: `Its own report came ${seconds(reportAge)} ago; one counts for ${seconds(countsForMs)}.`,
    };
  if (v === undefined) return { kind: 'unknown', detail: 'There is no verdict on it, so no evidence.' };
  if (isHeardVerdict(v.verdict)) return { kind: 'heard', detail: `The verdict is ${v.verdict}.` };
  const probe = v.evidence.ownProbe;
  if (probe !== undefined && probe.echo.length > 0)
    return { kind: 'echo', detail: `It echoes to the detector over ${probe.echo.join(', ')}.` };
  const hears = [...new Set(v.evidence.observers.filter((o) => o.stance === 'hears').map((o) => o.observer))];
  if (hears.length > 0)
    return { kind: 'heard', detail: `${hears.slice(0, 5).join(', ')} still hear${hears.length === 1 ? 's' : ''} it.` };
  const waived = isLifeSignWaived(f.node, settings.hostGroups);
  const { left } = v.evidence;
  const { state, detail } = lifeSigns({ ...observationsIn(v.evidence), waived, ...(left && { left }) });
  return { kind: state, detail };
}

const alive: readonly LifeSign['kind'][] = ['report', 'echo', 'heard', 'agent-down', 'hung'];

/** Something of the machine answers: a hung kernel is alive, too. That nobody could look is no sign of it. */
export const showsLife = ({ kind }: LifeSign): boolean => alive.includes(kind);

/** For how long a hung host has been held, and is to be, ms. */
const hungFigures = (f: Pick<GateFacts, 'hungForMs'>): StormCount => ({ count: f.hungForMs ?? 0, limit: HUNG_HOLD_MS });

/** What a gate that stops counts, and how much of it may be. */
export interface GateCount extends StormCount {
  of: 'unhealthy nodes' | 'nodes of its failure domain' | 'permits' | 'permits for the node' | 'ms held as hung';
}

/** The figures of a gate as of now; undefined: it does not count anything, or cannot. */
export function gateCount(gate: GateCode, f: GateFacts): GateCount | undefined {
  if (gate === 'LIFE_SIGN')
    return lifeSign(f).kind === 'hung' ? { of: 'ms held as hung', ...hungFigures(f) } : undefined;
  const of = countedBy[gate];
  if (f.storm === undefined || of === undefined) return undefined;
  return { of, ...stormFigures[gate as StormGate](f.storm, f.node, f.incident?.id) };
}

const countedBy: Partial<Record<GateCode, GateCount['of']>> = {
  BRAKE: 'unhealthy nodes',
  DOMAIN: 'nodes of its failure domain',
  CAP: 'permits',
  FLAPPING: 'permits for the node',
} satisfies Record<StormGate, GateCount['of']>;

/** Missing input (no look, no settings): stops. */
const life: Ask = (f) => {
  const sign = lifeSign(f);
  if (sign.kind === 'dead') return pass(`No report, no echo at anyone. ${sign.detail}`);
  if (sign.kind !== 'hung') return stop(sign.detail);
  const { count: held, limit } = hungFigures(f);
  if (held < limit) return stop(`${sign.detail} Held for ${seconds(HUNG_HOLD_MS)}, ${seconds(held)} have passed.`);
  return f.settings?.fencing.hung === 'fence'
    ? pass(`${sign.detail} For ${seconds(held)}; the policy for hung hosts is to fence.`)
    : stop(`${sign.detail} For ${seconds(held)}; the policy for hung hosts is to alarm.`);
};

/** Missing input: stops. */
const ofStorm =
  (gate: StormGate): Ask =>
  (f) =>
    f.storm === undefined
      ? stop('It is not known how many others are silent or in an incident.')
      : askStorm(gate, f.storm, f.node, f.incident?.id);

/** Missing input: stops. One server that is not on this node survives; of several, more than half must stay. */
const quorum: Ask = (f) =>
  f.broker === undefined || f.broker.servers.length === 0
    ? stop('It is not known where the servers of the bus run.')
    : brokerMajority(f.broker);

/** Missing settings: stops. */
const paused: Ask = (f) => {
  if (f.settings === undefined) return stop('The settings of fencing are not known.');
  const p = f.settings.fencing.paused;
  return isPaused(p, f.wallNow)
    ? stop(`Fencing is paused by ${p.by} ${pauseEnd(p)}: ${p.reason}.`)
    : pass('Fencing is not paused.');
};

/** Missing settings: stops. */
const observe: Ask = (f) =>
  f.settings?.fencing.mode === 'enforce'
    ? pass('The mode is enforce.')
    : stop(
        f.settings === undefined
          ? 'The mode of fencing is not known.'
          : 'The mode is observe: decide, but write to no power device.',
      );

/** A number that a gate decides by. */
export interface GateFigure {
  /** What it limits. */
  name: string;
  /** One that is fixed, ms. */
  ms?: number;
  /** One that the cluster's settings have: by its name in them. */
  setting?: string;
}

/** A row of the table of gates. */
export interface Gate {
  /** What it says by these facts. */
  ask: Ask;
  figures: readonly GateFigure[];
  /**
   * May an operator take an incident past it? `force`: only by saying that the node may live. `never`: there is nothing to
   * release to, or the setting itself is the way to say so.
   */
  release: 'yes' | 'force' | 'never';
  /** Its answer may change between permit and command, or between two rounds of a retry. The permit answers the others. */
  askedAgain: boolean;
}

const gate = (row: Omit<Gate, 'figures'> & Partial<Pick<Gate, 'figures'>>): Gate => ({ figures: [], ...row });

/** Every gate, in the order of {@link GateCodes}: the first that stops holds the incident. */
export const gateTable: Readonly<Record<GateCode, Gate>> = {
  BLIND: gate({ ask: blind, release: 'force', askedAgain: true }),
  NOT_FENCEABLE: gate({ ask: notFenceable, release: 'yes', askedAgain: true }),
  ALREADY_OPEN: gate({ ask: alreadyOpen, release: 'never', askedAgain: false }),
  LIFE_SIGN: gate({
    ask: life,
    figures: [
      {
        name: 'a report is a sign of life until it is due to be missed',
        setting: 'detection.misses, detection.interval',
      },
      { name: 'a hung host is held for', ms: HUNG_HOLD_MS },
    ],
    release: 'force',
    askedAgain: true,
  }),
  BRAKE: gate({
    ask: ofStorm('BRAKE'),
    figures: [
      {
        name: 'nodes that may be silent or in an incident at once',
        setting: 'fencing.storm.brakeAtLeast, fencing.storm.brakeShare',
      },
      { name: 'a permit counts for', ms: StormNumbers.brakeWindow },
      { name: 'silence, and an incident, count for', ms: StormNumbers.candidateWindow },
      { name: 'a storm ends after the last return by', ms: StormNumbers.opensAfter },
    ],
    release: 'yes',
    askedAgain: false,
  }),
  DOMAIN: gate({
    ask: ofStorm('DOMAIN'),
    figures: [
      { name: 'together means within', ms: StormNumbers.domainWindow },
      { name: 'a storm ends after the last return by', ms: StormNumbers.opensAfter },
    ],
    release: 'yes',
    askedAgain: false,
  }),
  CAP: gate({
    ask: ofStorm('CAP'),
    figures: [
      { name: 'permits that may be given', setting: 'fencing.storm.capAtLeast, fencing.storm.capShare' },
      { name: 'a permit counts for', ms: StormNumbers.capWindow },
    ],
    release: 'yes',
    askedAgain: false,
  }),
  QUORUM: gate({ ask: quorum, release: 'never', askedAgain: true }),
  PAUSED: gate({ ask: paused, release: 'never', askedAgain: true }),
  OBSERVE: gate({ ask: observe, release: 'never', askedAgain: true }),
  FLAPPING: gate({
    ask: ofStorm('FLAPPING'),
    figures: [
      { name: 'permits that may be given for one node', setting: 'fencing.storm.flaps' },
      { name: 'a permit counts for', ms: StormNumbers.capWindow },
    ],
    release: 'yes',
    askedAgain: false,
  }),
};

/** Every gate in order, also behind the first that stops: a dry run and an incident show them all. */
export const askGates = (f: GateFacts): GateResult[] => GateCodes.map((gate) => ({ gate, ...gateTable[gate].ask(f) }));

/** The first gate that stops and was not released. */
export function stoppingGate(
  results: GateResult[],
  released: readonly GateCode[] = [],
  facts?: GateFacts,
): GateResult | undefined {
  return results.find((r) => {
    if (r.pass) return false;
    if (!released.includes(r.gate) || gateTable[r.gate].release === 'never') return true;
    return r.gate === 'NOT_FENCEABLE' && facts !== undefined && unfenceable(facts) !== undefined;
  });
}
