import { isOpenIncident, type IncidentRecord, type VerdictKind } from '#contracts';
import { isHeardVerdict } from '../verdict/heard.js';
import { isAfterOff, wasCommanded } from './phases.js';

/** What a verdict as of now means for an open incident. */
export type VerdictEffect =
  | { kind: 'stands' }
  | { kind: 'cancel'; reason: string }
  /** UP after a command: it lives although it was ordered off. Its power quarantine on the asker's clock comes before. */
  | { kind: 'survived-after-quarantine'; reason: string }
  /** Nothing about this phase rests on a verdict any more. */
  | { kind: 'irrelevant' };

export interface VerdictNow {
  /** UNKNOWN where the detector is silent, blind or did not answer. */
  verdict: VerdictKind;
  bootId?: string;
  reason: string;
}

/** Opened by the policy for nodes that stay DEGRADED: of these that verdict stands for DOWN, though somebody hears them. */
export const isDownByPolicy = (i: { degraded?: boolean }, now: VerdictKind | undefined): boolean =>
  i.degraded === true && now === 'DEGRADED';

/** Undefined: no person has said that it is wanted. */
const wasHeardWhenWanted = ({ wantedAt }: Pick<IncidentRecord, 'wantedAt'>): boolean =>
  wantedAt === undefined || isHeardVerdict(wantedAt);

/** It was not heard when a person wanted it, and is now: whoever wanted a living one off has said so while it lived. */
const isBack = (i: Pick<IncidentRecord, 'wantedAt' | 'degraded'>, now: VerdictKind): boolean =>
  isHeardVerdict(now) && !isDownByPolicy(i, now) && !wasHeardWhenWanted(i);

/** What a person has released is over with the silence that it was given for. */
export const standingRelease = (
  i: Pick<IncidentRecord, 'wantedAt' | 'degraded' | 'released'>,
  now: VerdictKind,
): IncidentRecord['released'] => (isBack(i, now) ? undefined : i.released);

/** A person wants it off whether it lives or not: by an order, or by a forced release while it was heard. */
export const isWantedAlive = (i: Pick<IncidentRecord, 'cause' | 'released' | 'wantedAt'>): boolean =>
  i.cause === 'manual' || (i.released?.force === true && wasHeardWhenWanted(i));

/** The same, given while it was heard: its life does not take that back, and it stands until it is carried out or ended. */
export const isWantedWhileHeard = (i: Pick<IncidentRecord, 'cause' | 'released' | 'wantedAt'>): boolean =>
  isWantedAlive(i) && wasHeardWhenWanted(i);

/**
 * Before the first command every verdict but DOWN ends an automatic incident on its way, UNKNOWN included. A forced
 * release says that an operator wants it all the same, unless the node was silent then and is heard now. After the command
 * only the node's life ends it, and only after the power quarantine.
 */
export function verdictEffect(i: IncidentRecord, v: VerdictNow): VerdictEffect {
  if (!isOpenIncident(i) || isAfterOff(i)) return { kind: 'irrelevant' };
  if (wasCommanded(i)) {
    if (!isHeardVerdict(v.verdict)) return { kind: 'stands' };
    const boot = v.bootId === undefined || v.bootId === i.bootId ? 'the same boot' : `another boot (${v.bootId})`;
    return { kind: 'survived-after-quarantine', reason: `${v.verdict} in ${boot}: ${v.reason}` };
  }
  if (v.verdict === 'DOWN') return { kind: 'stands' };
  if (isBack(i, v.verdict)) return { kind: 'cancel', reason: `it is ${v.verdict} again: ${v.reason}` };
  // By policy: gate LIFE_SIGN holds it as long as anybody hears the node.
  if (isDownByPolicy(i, v.verdict)) return { kind: 'stands' };
  if (i.released?.force === true) return { kind: 'stands' };
  // An order by hand is not cancelled by a verdict: a living node stops it at its gate, where it can be released.
  if (i.cause === 'manual') return { kind: 'stands' };
  // What waits at a gate waits on through a detector's change of leader: all gates are asked before it goes on.
  if (i.phase === 'suppressed' && (v.verdict === 'UNKNOWN' || v.verdict === 'SUSPECT')) return { kind: 'stands' };
  return { kind: 'cancel', reason: `the verdict is ${v.verdict}: ${v.reason}` };
}
