import { failedAt, MusterError, type IncidentPhase, type IncidentRecord, type PowerCommand } from '#contracts';
import { isTakenOver } from '#domain/incident/fencing-leader.js';
import { go, note } from '#domain/incident/steps.js';
import type { PowerStep } from '#domain/power/next-step.js';
import type { PowerRead } from '#domain/power/power-read.js';
import type { PowerWish } from '#domain/power/power-wish.js';
import type { TimedOutcome } from '../power/power-control.js';

/*
 * How the fencing leader changes an incident. Each function refuses a record in which a leader with a higher token has
 * written: the old one has been replaced, whatever it believes.
 */

/** Commands kept: the first ones tell how it began, the reads in between go first, then whole attempts. */
const MOST_COMMANDS = 400;

/** @throws STALE_TOKEN */
function owned(i: IncidentRecord, token: number): IncidentRecord {
  if (isTakenOver(i, token))
    throw new MusterError('STALE_TOKEN', `a later fencing leader (${i.epoch}) has taken over ${i.node}`, {
      node: i.node,
      token,
    });
  return { ...i, epoch: token };
}

export interface Author {
  token: number;
  fencer: string;
  /** Wall clock, for people. */
  at: number;
}

/** What was decided, of the kind that is written in the record. */
type Step<Kind extends PowerStep['do']> = Extract<PowerStep, { do: Kind }>;

/** The intent of a command, written before it is given. */
export function withIntent(
  i: IncidentRecord,
  c: Pick<PowerCommand, 'device' | 'verb' | 'level'>,
  reads: readonly PowerRead[],
  by: Author,
): { record: IncidentRecord; n: number } {
  const record = withReads(owned(i, by.token), reads, by);
  const n = nextNumber(record.commands);
  const command: PowerCommand = { n, epoch: by.token, fencer: by.fencer, attempt: i.attempt, ...c, at: by.at };
  return { record: { ...record, updatedAt: by.at, commands: trimmed([...record.commands, command]) }, n };
}

/** How a command ended: told by whoever gave it, also after its lease; undefined where the entry is gone. */
export function withEnd(
  i: IncidentRecord,
  id: { incident: string; n: number; epoch: number },
  outcome: TimedOutcome,
  at: number,
): IncidentRecord | undefined {
  if (i.id !== id.incident) return undefined;
  const mine = (c: PowerCommand): boolean => c.n === id.n && c.epoch === id.epoch;
  if (!i.commands.some(mine)) return undefined;
  const ended = (c: PowerCommand): PowerCommand => ({
    ...c,
    endedAt: at,
    tookMs: outcome.tookMs,
    result: resultOf(outcome),
  });
  return { ...i, updatedAt: at, commands: i.commands.map((c) => (mine(c) ? ended(c) : c)) };
}

/** The reads of this process, with what follows from them. */
export function withReads(i: IncidentRecord, reads: readonly PowerRead[], by: Author): IncidentRecord {
  let commands = i.commands;
  for (const r of telling(reads)) {
    const { power, code, detail } = r;
    commands = [
      ...commands,
      {
        n: nextNumber(commands),
        epoch: by.token,
        fencer: by.fencer,
        attempt: i.attempt,
        level: r.level,
        device: r.device,
        verb: 'status',
        at: r.at,
        endedAt: r.at + Math.round(r.endedMs - r.startedMs),
        tookMs: Math.round(r.endedMs - r.startedMs),
        result: resultOf({
          ok: power !== 'unknown',
          power,
          ...(code === undefined ? {} : { code }),
          ...(detail === undefined ? {} : { detail }),
        }),
      },
    ];
  }
  return { ...i, commands: trimmed(commands) };
}

/** @throws STALE_TOKEN */
export function withDenials(
  i: IncidentRecord,
  denied: NonNullable<IncidentRecord['denied']>,
  by: Author,
): IncidentRecord {
  const { denied: _before, ...rest } = owned(i, by.token);
  return { ...rest, updatedAt: by.at, ...(Object.keys(denied).length > 0 && { denied }) };
}

/** @throws STALE_TOKEN, or INCIDENT_STATE where its fencing is not under way */
export function toPhase(
  i: IncidentRecord,
  phase: Extract<IncidentPhase, 'fenced' | 'failed'>,
  detail: string,
  by: Author,
): IncidentRecord {
  return go(owned(i, by.token), phase, detail, by.at, 'fencer');
}

/** Proven off. @throws STALE_TOKEN, or INCIDENT_STATE where its fencing is not under way */
export const toFenced = (i: IncidentRecord, step: Step<'fenced'>, by: Author): IncidentRecord => ({
  ...toPhase(i, 'fenced', step.detail, by),
  proof: { ...step.proof, at: by.at },
});

/** Failed, until its backoff is over. @throws STALE_TOKEN, or INCIDENT_STATE where its fencing is not under way */
export const toFailed = (i: IncidentRecord, step: Step<'failed'>, by: Author): IncidentRecord => ({
  ...toPhase(i, 'failed', step.detail, by),
  retryAt: by.at + step.retryInMs,
  ...(step.lacking.length > 0 && { lacking: step.lacking }),
});

/** What was ordered is dealt with: an operator's order, or the power-on after a recovery. */
export function toDone(i: IncidentRecord, wish: PowerWish, step: Step<'done'>, by: Author): IncidentRecord {
  const outcome = { done: true, ok: step.ok, detail: step.detail };
  const dealtWith =
    wish.orderer === 'operator'
      ? { order: { ...wish.order, ...outcome } }
      : { powerOn: { wanted: true, requestedAt: by.at, ...i.powerOn, ...outcome } };
  return { ...i, ...dealtWith, epoch: by.token, updatedAt: by.at };
}

/** It failed for want of a driver that is back: its backoff is over. */
export function withDriverBack(i: IncidentRecord, driver: string, by: Author): IncidentRecord {
  const { lacking: _back, ...rest } = owned(i, by.token);
  return { ...note(rest, `Driver ${driver} can be used again.`, by.at), retryAt: failedAt(i) };
}

export const toLevel = (i: IncidentRecord, level: number, detail: string, by: Author): IncidentRecord => ({
  ...note(owned(i, by.token), detail, by.at),
  level,
});

/** Of a row of equal answers of one device the first and the last two: a slow off would fill the record otherwise. */
function telling(reads: readonly PowerRead[]): PowerRead[] {
  return reads.filter((r, at) => {
    const same = reads.filter((x) => x.device === r.device && x.level === r.level);
    const place = same.indexOf(r);
    const before = same[place - 1];
    return place >= same.length - 2 || before?.power !== r.power || before.code !== r.code || at === 0;
  });
}

const nextNumber = (commands: readonly PowerCommand[]): number =>
  commands.reduce((most, c) => Math.max(most, c.n), 0) + 1;

/**
 * Reads go first. Where that is not enough, the oldest orders: never those of the first attempt, of the present one or
 * of the one before it, nor the last `off` of any device. What is decided on the record asks only for these.
 */
function trimmed(commands: PowerCommand[]): PowerCommand[] {
  const early = commands.slice(0, -50);
  const reads = early.filter((c) => c.verb === 'status').slice(0, Math.max(0, commands.length - MOST_COMMANDS));
  const kept = commands.filter((c) => !reads.includes(c));
  if (kept.length <= MOST_COMMANDS) return kept;
  const first = kept[0]?.attempt ?? 0;
  const present = kept.at(-1)?.attempt ?? 0;
  const isLastOff = (c: PowerCommand): boolean => kept.findLast((x) => x.verb === 'off' && x.device === c.device) === c;
  const middle = kept.filter((c) => {
    const attempt = c.attempt ?? 0;
    return attempt !== first && attempt < present - 1 && !isLastOff(c);
  });
  const surplus = middle.slice(0, kept.length - MOST_COMMANDS);
  return kept.filter((c) => !surplus.includes(c));
}

function resultOf(o: Omit<TimedOutcome, 'tookMs' | 'code'> & { code?: string }): NonNullable<PowerCommand['result']> {
  return {
    ok: o.ok,
    ...(o.power === undefined ? {} : { power: o.power }),
    ...(o.code === undefined ? {} : { code: o.code }),
    ...(o.detail === undefined ? {} : { detail: o.detail }),
  };
}
