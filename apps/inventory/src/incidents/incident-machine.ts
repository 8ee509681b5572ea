import {
  MusterError,
  failedAt,
  isOpenIncident,
  type IncidentPhase,
  type IncidentRecord,
  type IncidentStep,
  type VerdictKind,
} from '#contracts';

/**
 * Where an incident may go from where it is. `open` and `investigating` decide; `suppressed` waits at a gate; from
 * `fencing` on commands may have been given, so the ways out are narrower: see {@link mayCancel}.
 */
const next: Record<IncidentPhase, readonly IncidentPhase[]> = {
  open: ['investigating', 'suppressed', 'cancelled', 'fenced'],
  investigating: ['fencing', 'suppressed', 'cancelled', 'fenced'],
  suppressed: ['investigating', 'fencing', 'cancelled', 'fenced'],
  fencing: ['fenced', 'failed', 'survived', 'suppressed', 'cancelled'],
  failed: ['fencing', 'fenced', 'survived', 'suppressed', 'cancelled'],
  // Back to failed: the node contradicts its proof of off, which is void then.
  fenced: ['recovering', 'failed'],
  recovering: ['recovered', 'failed'],
  recovered: ['closed', 'failed'],
  closed: [],
  survived: [],
  cancelled: [],
};

/** A command that can change the node's power was (or may have been) given: intent counts, not its outcome. */
export const wasCommanded = (i: Pick<IncidentRecord, 'commands'>): boolean => i.commands.some((c) => c.verb === 'off');

/** Before the first command anything may end it; after it only a proof of off, a failure or the node's survival. */
export const mayCancel = (i: Pick<IncidentRecord, 'phase' | 'commands'>): boolean =>
  next[i.phase].includes('cancelled') && !wasCommanded(i);

export function mayGo(i: Pick<IncidentRecord, 'phase' | 'commands'>, to: IncidentPhase): boolean {
  if (to === 'cancelled' || (to === 'suppressed' && i.phase !== 'investigating' && i.phase !== 'open'))
    return next[i.phase].includes(to) && !wasCommanded(i);
  return next[i.phase].includes(to);
}

/** An operator's order to its power that is still to be carried out. */
export const isOrderPending = (i: Pick<IncidentRecord, 'order'>): boolean =>
  i.order !== undefined && i.order.done !== true;

/** Such an order is void: what it was given for is no longer so. */
export const withoutOrder = (i: IncidentRecord, why: string): IncidentRecord =>
  i.order === undefined || !isOrderPending(i) ? i : { ...i, order: { ...i.order, done: true, ok: false, detail: why } };

/** Steps kept in the record; a node that fails for weeks must not grow its incident without end. */
const MOST_STEPS = 200;

const withStep = (steps: IncidentStep[], step: IncidentStep): IncidentStep[] => {
  const all = [...steps, step];
  // The first steps tell how it began: the middle is what goes.
  return all.length <= MOST_STEPS ? all : [...all.slice(0, 20), ...all.slice(all.length - (MOST_STEPS - 20))];
};

/**
 * The incident in its next phase.
 * @param at wall clock, for people
 * @throws MusterError INCIDENT_STATE where the phase cannot follow
 */
export function go(i: IncidentRecord, to: IncidentPhase, detail: string, at: number): IncidentRecord {
  if (!mayGo(i, to))
    throw new MusterError(
      'INCIDENT_STATE',
      `The incident of ${i.node} is ${i.phase}${wasCommanded(i) ? ' and a power-off was ordered' : ''}: it cannot become ${to}.`,
      { node: i.node, incident: i.id, phase: i.phase, to },
    );
  const moved: IncidentRecord = { ...i, phase: to, updatedAt: at, steps: withStep(i.steps, { phase: to, at, detail }) };
  if (to !== 'suppressed') delete moved.gate;
  if (to === 'fencing') {
    delete moved.retryAt;
    delete moved.lacking;
  }
  // The second half of a cycle, without the first: whoever took it back may have opened the machine.
  return to === 'cancelled' ? withoutOrder(moved, 'The incident was cancelled.') : moved;
}

/** A step that tells more of the same phase. */
export const note = (i: IncidentRecord, detail: string, at: number): IncidentRecord => ({
  ...i,
  updatedAt: at,
  steps: withStep(i.steps, { phase: i.phase, at, detail }),
});

/**
 * How long a fencing that failed waits to be tried again, ms. By two times of one writer, the fencer: that of the failure
 * and `retryAt`. Notes that were added since (a pause, an operator's word) are by another host's wall clock.
 */
export function retryBackoff(i: Pick<IncidentRecord, 'steps' | 'retryAt' | 'updatedAt'>): number {
  return Math.max(0, (i.retryAt ?? i.updatedAt) - failedAt(i));
}

/** What a verdict as of now means for an open incident. */
export type VerdictEffect =
  | { kind: 'stands' }
  | { kind: 'cancel'; reason: string }
  /** UP after a command: the node lives although it was ordered off. W on the asker's clock comes before. */
  | { kind: 'survived-after-quarantine'; reason: string }
  /** Nothing about this phase rests on a verdict any more. */
  | { kind: 'irrelevant' };

export interface VerdictNow {
  /** UNKNOWN where the detector is silent, blind or did not answer. */
  verdict: VerdictKind;
  bootId?: string;
  reason: string;
}

/** It was not heard when a person wanted it, and is now: whoever wanted a living one off has said so while it lived. */
const isBack = (i: Pick<IncidentRecord, 'wantedAt'>, now: VerdictKind): boolean =>
  now === 'UP' && i.wantedAt !== undefined && i.wantedAt !== 'UP' && i.wantedAt !== 'DEGRADED';

/**
 * Taken back by a person before its first command.
 * @param o `now`: the verdict as of now
 * @throws MusterError INCIDENT_STATE
 */
export function takenBack(
  i: IncidentRecord,
  o: { by: string; reason: string; at: number; now: VerdictKind | undefined },
): IncidentRecord {
  const { by, reason, at } = o;
  const next = { ...go(i, 'cancelled', `${by} took it back: ${reason}`, at), takenBack: { by, reason, at } };
  return takenBackOver(next, o.now, undefined) ?? next;
}

/** A person took it back, and the node was not heard since: then none is opened by itself. */
export const isTakenBack = (i: Pick<IncidentRecord, 'phase' | 'takenBack'>): boolean =>
  i.phase === 'cancelled' && i.takenBack !== undefined && i.takenBack.over !== true;

/**
 * What was taken back once its node is heard again, or runs another boot: the next death is another one. Undefined: it
 * stands. For one that policy treats as DOWN while it is DEGRADED, only UP counts.
 */
export function takenBackOver(
  i: IncidentRecord,
  now: VerdictKind | undefined,
  bootId: string | undefined,
): IncidentRecord | undefined {
  if (!isTakenBack(i) || i.takenBack === undefined) return undefined;
  const heard = now === 'UP' || (now === 'DEGRADED' && i.degraded !== true);
  const booted = bootId !== undefined && i.bootId !== undefined && bootId !== i.bootId;
  return heard || booted ? { ...i, takenBack: { ...i.takenBack, over: true } } : undefined;
}

/**
 * Before the first command every verdict but DOWN ends an automatic incident on its way, UNKNOWN included; a forced
 * release says that an operator wants it all the same, unless the node was silent then and is UP now. After the command only the node's life does, and only after W.
 */
export function verdictEffect(i: IncidentRecord, v: VerdictNow): VerdictEffect {
  if (!isOpenIncident(i) || i.phase === 'fenced' || i.phase === 'recovering' || i.phase === 'recovered')
    return { kind: 'irrelevant' };
  if (wasCommanded(i)) {
    if (v.verdict !== 'UP' && v.verdict !== 'DEGRADED') return { kind: 'stands' };
    const boot = v.bootId === undefined || v.bootId === i.bootId ? 'the same boot' : `another boot (${v.bootId})`;
    return { kind: 'survived-after-quarantine', reason: `${v.verdict} in ${boot}: ${v.reason}` };
  }
  if (v.verdict === 'DOWN') return { kind: 'stands' };
  if (isBack(i, v.verdict)) return { kind: 'cancel', reason: `it is UP again: ${v.reason}` };
  // By policy: gate LIFE_SIGN holds it as long as anybody hears the node.
  if (i.degraded === true && v.verdict === 'DEGRADED') return { kind: 'stands' };
  if (i.released?.force === true) return { kind: 'stands' };
  // An order by hand is not taken back by a verdict: a living node stops it at its gate, where it can be released.
  if (i.cause === 'manual') return { kind: 'stands' };
  // What waits at a gate waits on through a detector's change of leader: all gates are asked before it goes on.
  if (i.phase === 'suppressed' && (v.verdict === 'UNKNOWN' || v.verdict === 'SUSPECT')) return { kind: 'stands' };
  return { kind: 'cancel', reason: `the verdict is ${v.verdict}: ${v.reason}` };
}
