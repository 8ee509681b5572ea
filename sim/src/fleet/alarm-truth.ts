import type { AlarmCode, IncidentRecord, NodeRecord, StormTrip, WorkloadRecord } from '#contracts';
import { isBlamedByDrill } from './gate-truth.js';
import { isProofRefuted } from './proof-truth.js';

/** What is true, as far as alarms tell of it. */
export interface AlarmWorld {
  speaks: (node: string) => boolean;
  isHung: (node: string) => boolean;
  isDrifted: (node: string) => boolean;
  /** Where a workload runs. */
  runsOn: (workload: string) => readonly string[];
  /** A workload runs there, assigned to it or not. */
  isAtWork: (node: string) => boolean;
  /** The last incident of a node; open or not. */
  incident: (node: string) => IncidentRecord | undefined;
  openIncidents: () => readonly IncidentRecord[];
  node: (node: string) => NodeRecord | undefined;
  workload: (workload: string) => WorkloadRecord | undefined;
  /** Nothing is known against a start there, in its record or in what is true. */
  serves: (node: string) => boolean;
  /** Nodes of the fleet. */
  nodes: () => readonly NodeRecord[];
  /** By a drain, or for a job that empties it first. */
  isBeingEmptied: (node: string) => boolean;
  /** In the boot that was to have ended by the proof of its incident. */
  spokeSinceProof: (node: string) => boolean;
  workloadsOf: (node: string) => readonly WorkloadRecord[];
  lacksQuorum: () => boolean;
  /** Storms that stand. */
  storms: () => readonly StormTrip[];
  /** The power device of a node switches another machine. */
  isMiswired: (node: string) => boolean;
  /** Its boot starts something without asking. */
  startsUngated: (node: string) => boolean;
  /** Buckets that somebody has made anew. */
  isAnew: () => boolean;
}

type Truth = (subject: string, w: AlarmWorld) => boolean;

/** Nothing that is played brings it about, or only a fault that is over. */
const never: Truth = () => false;
/** What it tells of is counted over a time, or in a record alone: the world knows no better. */
const notJudged: Truth = () => true;

/** Where there is no quorum nobody is judged, and what was said last of a node that has come back stands. */
const isSilent: Truth = (node, w) => !w.speaks(node) || w.lacksQuorum();
const isIn = (node: string, w: AlarmWorld, ...phases: IncidentRecord['phase'][]): boolean =>
  phases.some((phase) => w.incident(node)?.phase === phase);
const isHeldAt = (gate: string, w: AlarmWorld): boolean =>
  w.openIncidents().some((i) => i.phase === 'suppressed' && i.gate === gate);

/** What runs there nobody sees, nor is it proven to be off. */
const isUnseen = ({ name, enrolled, confirmedOff }: NodeRecord, w: AlarmWorld): boolean =>
  enrolled && confirmedOff === undefined && !w.speaks(name);

/** It was taken by a proof of off that proves nothing, and the node that had it is not proven off anew. */
const isBarred = (workload: string, w: AlarmWorld): boolean =>
  w
    .openIncidents()
    .some((i) => isProofRefuted(i) && i.contradiction?.recovery.some((r) => r.workload === workload) === true);

/** What runs there stays: no other node serves, or what runs on another one nobody sees. */
export const isBoundTo = (node: string, w: AlarmWorld): boolean => {
  const others = w.nodes().filter((n) => n.name !== node);
  return !others.some((n) => w.serves(n.name)) || others.some((n) => isUnseen(n, w));
};

/** Alarm → what must be so while it stands, with faults over. A code that comes has to be decided on here. */
const truths: Readonly<Record<AlarmCode, Truth>> = {
  'agent-down': never,
  'host-hung': (node, w) => w.isHung(node),
  'life-sign-weak': notJudged,
  'partial-reachability': isSilent,
  'network-down': never,
  'node-degraded': (_node, w) => w.lacksQuorum(),
  blind: (_s, w) => w.lacksQuorum(),
  'detector-silent': never,
  'fencing-failed': (node, w) => isIn(node, w, 'failed', 'fencing'),
  'fencing-suppressed': (node, w) =>
    isIn(node, w, 'suppressed') || (isIn(node, w, 'cancelled') && w.incident(node)?.takenBack !== undefined),
  'fencing-waits': (node, w) => isSilent(node, w) && !isIn(node, w, 'fenced', 'recovering', 'recovered'),
  brake: (_s, w) => w.storms().some((t) => t.cause !== 'domain') || isHeldAt('BRAKE', w),
  'domain-down': (domain, w) => w.storms().some((t) => t.domain === domain) || isHeldAt('DOMAIN', w),
  'not-fenceable': isSilent,
  'dead-with-work': (node, w) => isSilent(node, w) && w.workloadsOf(node).length > 0,
  // Nothing that is played has a capacity.
  'no-room': (workload, w) => w.runsOn(workload).length === 0 && !w.nodes().some((n) => w.serves(n.name)),
  'workload-held': (workload, w) => {
    const at = w.workload(workload)?.assignment?.node;
    const on = w.runsOn(workload);
    if (on.length === 1 && on[0] === at) return false;
    if (isBarred(workload, w)) return true;
    // Where its node serves, it may only be because it runs elsewhere, or somebody does not say that it does not.
    return at === undefined || !w.serves(at) || on.length > 0 || w.nodes().some((n) => isUnseen(n, w));
  },
  'workload-ended': notJudged,
  'workload-ungated': (node, w) => w.startsUngated(node) || isSilent(node, w),
  'power-on-withheld': isSilent,
  'boot-timeout': isSilent,
  drift: (node, w) => w.isDrifted(node) || w.node(node)?.pendingReturn !== undefined,
  'resetup-failed': (node, w) => w.isDrifted(node) || w.node(node)?.pendingReturn !== undefined,
  'check-unreachable': notJudged,
  'check-failed': notJudged,
  flapping: notJudged,
  conflict: never,
  'conflict-power': (node, w) => w.spokeSinceProof(node) || w.incident(node)?.contradiction !== undefined,
  'conflict-workload': (workload, w) => {
    const at = w.workload(workload)?.assignment?.node;
    return w.runsOn(workload).some((node) => node !== at);
  },
  collateral: (node, w) => w.incident(node)?.collateral !== undefined,
  'no-workers': never,
  'worker-outdated': never,
  'peer-list': never,
  'power-place': never,
  'power-identity': (node, w) => w.isMiswired(node) || isBlamedByDrill(w.node(node)),
  'power-identity-unread': notJudged,
  'drain-stuck': (node, w) =>
    w.isBeingEmptied(node) &&
    (w.workloadsOf(node).length > 0 || w.isAtWork(node) || isSilent(node, w) || isIn(node, w, 'suppressed')),
  'webhook-failing': never,
  'link-down': never,
  'partly-heard': isSilent,
  'link-quality': never,
  'auth-failure': never,
  duplicate: never,
  'agent-health': isSilent,
  'record-unreadable': never,
  'token-behind': never,
  'task-failing': never,
  'bucket-anew': (_s, w) => w.isAnew(),
  'store-loaded': never,
  'store-unwatched': never,
  'store-space': never,
  'nats-plain': notJudged,
  'certificate-broken': never,
  'certificate-expires': never,
};

/** Is it so, what a standing alarm says? */
export const isAlarmTrue = (code: AlarmCode, subject: string, w: AlarmWorld): boolean => truths[code](subject, w);
