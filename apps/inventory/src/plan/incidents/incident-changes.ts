import {
  devicesMark,
  type GateCode,
  type GateResult,
  type IncidentRecord,
  type IncidentStep,
  type NodeRecord,
  type Verdict,
} from '#contracts';
import { shownLife } from '#domain/incident/life-signs.js';
import { mayCancel, wasCommanded } from '#domain/incident/phases.js';
import { go, note, orderedOff } from '#domain/incident/steps.js';
import { firstLevel } from '#domain/power/levels.js';
import type { ChangeIncident } from '../intent.js';
import { evidenceOf } from './carried-evidence.js';
import type { Investigation } from '../../snapshot/investigation.js';

/** The record as it is to be. @param at wall clock, for people. @returns undefined: it is left alone */
export type IncidentChange = (now: IncidentRecord, at: number) => IncidentRecord | undefined;

/**
 * A change of what was looked at. Where its phase has moved on meanwhile, a command was given, a person has released it
 * or ordered something, or a later conductor has it, it is left alone, and the next look decides anew.
 */
export const changeAsSeen = (i: IncidentRecord, reason: string, change: IncidentChange): ChangeIncident => ({
  ...{ do: 'change-incident', key: i.node, id: i.id, about: { node: i.node } },
  reason,
  decide: (now, { token, fleet }) => {
    if (!isAsSeen(now, i, token)) return undefined;
    const next = change(now, fleet.wallMs);
    return next && { ...next, conductor: token };
  },
});

export const isAsSeen = (now: IncidentRecord, i: IncidentRecord, token: number): boolean =>
  now.phase === i.phase &&
  now.commands.length === i.commands.length &&
  now.cause === i.cause &&
  now.wantedAt === i.wantedAt &&
  isSame(now.released, i.released) &&
  isSame(now.order, i.order) &&
  now.conductor <= token;

/** Of the same record, or of a later one that has it from there: its members are in the same order. */
const isSame = (a: object | undefined, b: object | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Ends it before the first command; does nothing where a command has been given meanwhile. */
export const ended =
  (reason: string): IncidentChange =>
  (now, at) =>
    mayCancel(now) ? go(now, 'cancelled', reason, at) : undefined;

/** It lives although it was ordered off: nothing is recovered. */
export const survived =
  (reason: string): IncidentChange =>
  (now, at) =>
    go(now, 'survived', `It lives: ${reason}.`, at);

/** A gate stops it. */
export interface Stop {
  gate: GateResult;
  gates: GateResult[];
}

export const suppressed =
  ({ gate: { gate, detail }, gates }: Stop, verdict: Verdict | undefined): IncidentChange =>
  (now, at) => {
    const text = stopText(gate, detail);
    const next = now.phase === 'suppressed' ? note(now, text, at) : go(now, 'suppressed', text, at);
    next.gate = gate;
    next.gates = gates;
    if (verdict !== undefined) next.verdict = verdict;
    return next;
  };

/** By this step an incident is stopped at the gate. A record keeps the last gate only. */
export const isStopAt = ({ phase, detail }: Pick<IncidentStep, 'phase' | 'detail'>, gate: GateCode): boolean =>
  phase === 'suppressed' && detail.startsWith(stopText(gate, ''));

const stopText = (gate: GateCode, detail: string): string => `${gate}: ${detail}`;

/** It says so already. Figures that change each second are not worth a write, and no news. */
export function isStoppedSo(i: IncidentRecord, { gate: { gate }, gates }: Stop, verdict: Verdict | undefined): boolean {
  const sameLife = gate !== 'LIFE_SIGN' || shownLife(i.verdict) === shownLife(verdict);
  return i.phase === 'suppressed' && i.gate === gate && sameLife && sameOutcome(i.gates, gates);
}

const sameOutcome = (a: readonly GateResult[], b: readonly GateResult[]): boolean =>
  a.length === b.length && a.every((g, n) => g.gate === b[n]?.gate && g.pass === b[n].pass);

/** Its gates pass, and it has its permit: handed to the fencing leader, with what that rests on. */
export const sentToFencing =
  (i: IncidentRecord, node: NodeRecord, x: Investigation, gates: GateResult[]): IncidentChange =>
  (now, at) => {
    const next = orderedOff(now, orderText(now, x.story), at);
    next.gates = gates;
    next.level = firstLevel(next);
    if (i.phase === 'failed') next.attempt += 1;
    next.evidence = evidenceOf(x.gates);
    orderedWith(next, node, [...x.silent]);
    if (x.gates.verdict !== undefined) next.verdict = x.gates.verdict;
    return next;
  };

function orderText(i: IncidentRecord, story: string): string {
  if (i.phase === 'failed') return `Tried again, attempt ${i.attempt + 2}.`;
  const by = i.released === undefined ? '' : ` past ${i.released.gates.join(', ')}, released by ${i.released.by}`;
  return `All gates pass${by}. ${story}`;
}

/** The order names the devices as they are; what was given to others before does not count for them. */
function orderedWith(next: IncidentRecord, node: NodeRecord, silent: string[]): void {
  const devices = devicesMark(node.powerLevels);
  if (next.devices !== devices) {
    if (next.devices !== undefined) next.devicesAfter = next.commands.reduce((most, c) => Math.max(most, c.n), 0);
    next.silentBefore = silent;
  }
  // Until an off was given it could silence nobody.
  if (!wasCommanded(next)) next.silentBefore = silent;
  next.devices = devices;
}
