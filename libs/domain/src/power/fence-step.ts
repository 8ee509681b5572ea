import { ErrorCodes, FencingNumbers, hasSealed, type CommandLog, type OffProof, type PowerDevice } from '#contracts';
import { retryDelayMs, type RetryPolicy } from '../retry/retry-policy.js';
import { counts, isFor, type RecheckAnswer } from './recheck-answer.js';
import { latestOff, levelEnd } from './levels.js';
import type { PowerMemory, PowerRead } from './power-read.js';
import type { FenceWish } from './power-wish.js';
import {
  deviceOwner,
  identityUnread,
  standsFor,
  wasAsked,
  type DeviceOwner,
  type IdentityRead,
} from './whose-device.js';
import { areOtherDevices } from './ordered-devices.js';

/** What the leader has seen itself of the incident's present attempt. A new leader begins with nothing. */
export interface FenceMemory extends PowerMemory {
  /** When level 0 of this attempt began; a leader that comes to a later level counts as if it had been there. */
  sinceMs: number;
  /**
   * Until then an `on` that was given before may be carried out, by the power quarantine on this process's own clock:
   * what is read as off until then proves nothing. Absent: none is known.
   */
  onUntilMs?: number;
  /** Drivers on offer here. */
  drivers: readonly string[];
  /** Revision of the record that is decided on. */
  revision: number;
  /** Last answer of inventory: does the incident still stand? */
  recheck?: RecheckAnswer;
}

export interface FenceCommand {
  device: PowerDevice;
  /** `identify`: who is it? Changes nothing. */
  verb: 'off' | 'status' | 'identify';
  /** It may run for so long, ms. */
  limitMs: number;
}

export type FenceStep =
  | { do: 'recheck' }
  | { do: 'command'; commands: FenceCommand[] }
  | { do: 'fenced'; proof: Pick<OffProof, 'kind' | 'level'>; detail: string }
  | { do: 'next-level'; level: number; detail: string }
  /** `lacking`: drivers that could not be used here; with one of them back it is worth another try. */
  | { do: 'failed'; detail: string; retryInMs: number; lacking: string[] }
  /** At the latest until then; a command that ends or a changed record wakes earlier. */
  | { do: 'wait'; untilMs: number };

/** Between two reads while the power is on or unknown, ms. */
const FENCE_READ_AGAIN_MS = 300;
/** After a no, inventory is asked again, ms; and after an answer for another revision, which may not be the last one. */
const RECHECK_AGAIN_MS = 1_000;
const RECHECK_OTHER_MS = 100;
/** An `off` that was not taken is repeated at most so often in one level of one attempt, and not sooner than this. */
const MOST_OFFS = 3;
const OFF_AGAIN_MS = 1_000;
/** A device that did not say who it is is asked again after this, ms. */
const FENCE_IDENTIFY_AGAIN_MS = 1_000;
/**
 * What a device took to say who it is prolongs its level, and by this part more for what lies between the commands: the level's
 * own time is for the off and its reads. By two commands at most: the word of a BMC that takes 5 s for each ages once.
 */
const ASKING_SHARE = 1.2;
const MOST_ASKING_MS = 2 * FencingNumbers.commandLimit;
/** Several devices: a device that was proven off this long ago is read again, so that all proofs stand together, ms. */
const PROOF_FRESH_MS = 5_000;
/** With less time than this left in a level no command is begun, ms. */
const WORTH_MS = 250;
/** Before the next attempt after `failed`. */
const BACKOFF: RetryPolicy = { firstMs: 10_000, growth: 2, mostMs: 300_000 };

/**
 * The leader's next step for an incident in phase `fencing`. Pure.
 *
 * Proof of off: per device two consecutive off-reads, both begun after the last `off` of the level ended, at least
 * `readGap` apart (`readGapAlreadyOff` where this incident never ordered that device off). Unknown is never off, and
 * the outcome of `off` itself proves nothing.
 *
 * A device that was proven to be the node's own by what it says of itself is given no `off`, and proves nothing, unless it
 * has said so again shortly before: it may be another machine's since.
 *
 * @param now own monotonic clock, ms
 */
export function decideFence(
  wish: FenceWish,
  log: CommandLog,
  levels: readonly (readonly PowerDevice[])[],
  m: FenceMemory,
  now: number,
): FenceStep {
  // Whether they are those of the order cannot be told then, either.
  const shut = levels.flat().find((d) => hasSealed(d.options));
  // Edited since: what was read of them, and what was ordered, is of other devices.
  if (shut !== undefined || areOtherDevices(wish, levels))
    return m.busy.length > 0
      ? { do: 'wait', untilMs: now + FENCE_READ_AGAIN_MS }
      : { do: 'failed', ...(shut ? sealedOptions(shut, wish) : edited), lacking: [] };
  const devices = levels[wish.level] ?? [];
  if (devices.length === 0)
    return { do: 'failed', detail: 'The node has no power device.', retryInMs: backoff(wish), lacking: [] };
  const plans = devices.map((device) => planDevice(wish, log, device, m, now));
  if (plans.every((p) => p.do === 'proven')) return fenced(wish, log, devices);

  const end = Math.max(m.sinceMs, m.onUntilMs ?? -Infinity) + levelEnd(wish.level, levels.length) + askingMs(levels, m);
  const hopeless = plans.find((p) => p.do === 'hopeless');
  const over = now >= end;
  if (hopeless !== undefined || over) {
    // What is under way ends by its own limit: a level is not left while a command of it may still act.
    if (m.busy.length > 0) return { do: 'wait', untilMs: now + FENCE_READ_AGAIN_MS };
    const why = hopeless?.do === 'hopeless' ? hopeless.detail : summary(wish, log, devices, m, now);
    return leave(wish, levels, m, why);
  }

  // Too late to begin anything; what is under way may still prove it.
  if (end - now < WORTH_MS) return { do: 'wait', untilMs: end };
  if (m.recheck === undefined) return { do: 'recheck' };
  if (!m.recheck.go) {
    const again = m.recheck.atMs + RECHECK_AGAIN_MS;
    return now >= again ? { do: 'recheck' } : { do: 'wait', untilMs: Math.min(again, end) };
  }
  const commands = plans.flatMap((p) => (p.do === 'command' ? [p] : []));
  if (commands.length > 0) {
    const limitMs = Math.min(FencingNumbers.commandLimit, end - now);
    const powersOff = commands.some((c) => c.verb === 'off');
    if (powersOff && !counts(m.recheck, now)) return { do: 'recheck' };
    if (powersOff && !isFor(m.recheck, m.revision)) {
      const again = m.recheck.atMs + RECHECK_OTHER_MS;
      return now >= again ? { do: 'recheck' } : { do: 'wait', untilMs: again };
    }
    return { do: 'command', commands: commands.map(({ device, verb }) => ({ device, verb, limitMs })) };
  }
  const times = plans.flatMap((p) => (p.do === 'wait' ? [p.untilMs] : []));
  return { do: 'wait', untilMs: Math.min(end, ...times) };
}

/**
 * How much longer the levels of this attempt last because devices said who they are, ms. One that does not say it prolongs
 * nothing: the next level is not to wait for it.
 */
function askingMs(levels: readonly (readonly PowerDevice[])[], m: FenceMemory): number {
  const tookMs = (d: PowerDevice): number => {
    const owner = deviceOwner(m.identified, d, m.identities);
    const own = m.identities.filter(
      (r) => r.device === d.id && owner.is === 'own' && owner.readsMs.includes(r.startedMs),
    );
    return own.reduce((sum, r) => sum + r.endedMs - r.startedMs, 0);
  };
  // Those of one level are asked at once.
  const all = levels.reduce((sum, level) => sum + Math.max(0, ...level.map(tookMs)), 0);
  return Math.min(MOST_ASKING_MS, ASKING_SHARE * all);
}

const edited = { detail: 'Its power devices were edited.', retryInMs: 0 };

const sealedOptions = ({ id }: PowerDevice, wish: FenceWish): { detail: string; retryInMs: number } => ({
  detail: `CONFIG_INVALID: options of its power device ${id} are sealed, and keys.secrets of this fencer does not open them.`,
  retryInMs: backoff(wish),
});

type DevicePlan =
  | { do: 'busy' }
  | { do: 'proven' }
  | { do: 'command'; device: PowerDevice; verb: 'off' | 'status' | 'identify' }
  | { do: 'wait'; untilMs: number }
  | { do: 'hopeless'; detail: string };

function planDevice(wish: FenceWish, log: CommandLog, device: PowerDevice, m: FenceMemory, now: number): DevicePlan {
  if (m.busy.includes(device.id)) return { do: 'busy' };
  if (!m.drivers.includes(device.driver))
    return { do: 'hopeless', detail: `DRIVER_UNAVAILABLE: this fencer does not offer driver ${device.driver}.` };
  const owner = deviceOwner(m.identified, device, m.identities);
  if (owner.is === 'other') return { do: 'hopeless', detail: `IDENTITY_MISMATCH: ${device.id}: ${owner.why}.` };
  const reads = countingReads(wish.level, device.id, m);
  const counting = reads.filter((r) => standsFor(owner, r.startedMs));
  const plan = planOwn(wish, log, device, counting, m, now);
  if (plan.do === 'proven' || plan.do === 'hopeless' || standsFor(owner, now)) return plan;
  return planIdentify(device, owner, reads.at(-1), now);
}

/** Asks the device who it is, again where it did not say. */
function planIdentify(device: PowerDevice, owner: DeviceOwner, last: PowerRead | undefined, now: number): DevicePlan {
  const tried = 'last' in owner ? owner.last : undefined;
  if (tried === undefined || hasAged(owner)) return { do: 'command', device, verb: 'identify' };
  // For those who are told why it was not switched off.
  if (last === undefined) return { do: 'command', device, verb: 'status' };
  if (isFinal(tried.code) && isFinal(last.code)) return { do: 'hopeless', detail: unreadText(device, tried) };
  const notBefore = tried.endedMs + FENCE_IDENTIFY_AGAIN_MS;
  return now >= notBefore ? { do: 'command', device, verb: 'identify' } : { do: 'wait', untilMs: notBefore };
}

/** It answered when it was asked last, or refused to, and that was too long ago. */
const hasAged = (owner: DeviceOwner): boolean =>
  (owner.is === 'own' && owner.readsMs.at(-1) === owner.last.startedMs) ||
  (owner.is === 'unsaid' && wasAsked(owner.last));

/** @param reads that may stand for the node */
function planOwn(
  wish: FenceWish,
  log: CommandLog,
  device: PowerDevice,
  reads: readonly PowerRead[],
  m: FenceMemory,
  now: number,
): DevicePlan {
  const last = reads.at(-1);
  const off = latestOff(log, device.id, { attempt: wish.attempt, level: wish.level });
  const command = (verb: 'off' | 'status'): DevicePlan => ({ do: 'command', device, verb });
  const read = (notBefore: number): DevicePlan =>
    now >= notBefore ? command('status') : { do: 'wait', untilMs: notBefore };
  if (last === undefined) return command('status');

  const onUntilMs = m.onUntilMs ?? -Infinity;
  if (last.power === 'off') {
    // It reads as off, and an `on` may be on its way: most devices carry out a later `off` later.
    if (off === undefined && now < onUntilMs) return command('off');
    if (last.startedMs < onUntilMs) return read(onUntilMs);
    const gap = latestOff(log, device.id) === undefined ? FencingNumbers.readGapAlreadyOff : FencingNumbers.readGap;
    const first = trailingOffs(reads).find((r) => r.startedMs >= onUntilMs) ?? last;
    if (first === last || last.startedMs - first.endedMs < gap) return read(first.endedMs + gap);
    return now - last.endedMs <= PROOF_FRESH_MS ? { do: 'proven' } : command('status');
  }

  // Nothing can be started here: an intent would stand for a command that nobody gave.
  if (last.code === 'DRIVER_UNAVAILABLE') return read(last.endedMs + OFF_AGAIN_MS);
  if (off === undefined) return command('off');
  const offEnded = m.endedMs[device.id] ?? -Infinity;
  const isUndone = offEnded < onUntilMs && last.startedMs >= onUntilMs;
  const mayRepeat = (off.command.result?.ok !== true || isUndone) && off.count < MOST_OFFS;
  if (off.command.result?.ok === false && isFinal(off.command.result.code) && isFinal(last.code))
    return { do: 'hopeless', detail: `${off.command.result.code}: ${off.command.result.detail ?? 'no detail'}` };
  if (mayRepeat && now >= offEnded + OFF_AGAIN_MS) return command('off');
  return read(last.endedMs + FENCE_READ_AGAIN_MS);
}

/** Reads that may prove something: begun when the last `off` of any device of the level had ended. */
function countingReads(level: number, device: string, m: FenceMemory): PowerRead[] {
  const from = Math.max(-Infinity, ...Object.values(m.endedMs));
  return m.reads.filter((r) => r.level === level && r.device === device && r.startedMs >= from);
}

/** The unbroken row of off-reads at the end. */
function trailingOffs(reads: readonly PowerRead[]): PowerRead[] {
  const broken = reads.findLastIndex((r) => r.power !== 'off');
  return reads.slice(broken + 1);
}

/** Trying again cannot help. */
const isFinal = (code: string | undefined): boolean =>
  code !== undefined && code in ErrorCodes && !ErrorCodes[code as keyof typeof ErrorCodes].retry;

function fenced({ level }: FenceWish, log: CommandLog, devices: readonly PowerDevice[]): FenceStep {
  const ordered = devices.some((d) => latestOff(log, d.id) !== undefined);
  const names = devices.map((d) => d.id).join(' and ');
  return {
    do: 'fenced',
    proof: { kind: ordered ? 'read-back' : 'already-off', level },
    detail: ordered ? `Power read back as off, twice: ${names}.` : `The power was off already, read twice: ${names}.`,
  };
}

function leave(wish: FenceWish, levels: readonly (readonly PowerDevice[])[], m: FenceMemory, why: string): FenceStep {
  const next = wish.level + 1;
  if (next < levels.length)
    return { do: 'next-level', level: next, detail: `Level ${wish.level + 1} did not work: ${why}` };
  const lacking = levels.flat().flatMap((d) => (isLacking(d, m) ? [d.driver] : []));
  return { do: 'failed', detail: `No level is left: ${why}`, retryInMs: backoff(wish), lacking: [...new Set(lacking)] };
}

/** It is not on offer, or could not be started when the device was last read. */
const isLacking = (d: PowerDevice, m: FenceMemory): boolean =>
  !m.drivers.includes(d.driver) || m.reads.findLast((r) => r.device === d.id)?.code === 'DRIVER_UNAVAILABLE';

function summary(
  wish: FenceWish,
  log: CommandLog,
  devices: readonly PowerDevice[],
  m: FenceMemory,
  now: number,
): string {
  if (m.recheck?.go === false) return `Inventory held it: ${m.recheck.reason}`;
  const parts = devices.map((d) => {
    const last = countingReads(wish.level, d.id, m).at(-1);
    const off = latestOff(log, d.id, { attempt: wish.attempt, level: wish.level })?.command.result;
    const read = last === undefined ? 'not read' : [last.power, last.code].filter(Boolean).join(' ');
    const order = off === undefined ? 'no off was given' : off.ok ? 'off was accepted' : `off: ${off.code ?? 'failed'}`;
    return `${d.id}: power ${read}, ${order}`;
  });
  const unread = devices.flatMap((d) => {
    const owner = deviceOwner(m.identified, d, m.identities);
    return standsFor(owner, now) ? [] : [unreadText(d, 'last' in owner ? owner.last : undefined)];
  });
  return [...unread, `${parts.join('; ')}.`].join(' ');
}

const unreadText = (device: PowerDevice, tried: IdentityRead | undefined): string =>
  `${identityUnread(device, tried)}; until it does, it gets no off and its readings do not count.`;

const backoff = ({ attempt }: FenceWish): number => retryDelayMs(BACKOFF, attempt + 1);
