import {
  FencingNumbers,
  identityBasis,
  identityStanding,
  POWER_QUARANTINE_MS,
  type CommandLog,
  type PowerCommand,
  type PowerDevice,
} from '#contracts';
import { latestOff } from './levels.js';
import type { PowerMemory } from './power-read.js';
import { lastOff } from './quarantine.js';
import { isForEarlierBoot, powerOnDevices, softDevices, type SwitchWish } from './power-wish.js';
import { deviceOwner, identityUnread, standsFor, type DeviceOwner } from './whose-device.js';

/** What the leader has seen itself since it took up the order. */
export interface SwitchMemory extends PowerMemory {
  /** When this process first saw the incident's last `off` as it stands in the record (given, or ended). */
  quietSinceMs: number;
  /** Why no power device may be written to now, see `mayPower`. */
  hold?: string;
  /** The boot that the node runs, by its record. */
  bootId?: string | undefined;
}

/** `identify`: who is it? Changes nothing, as `status` does. */
type SwitchVerb = 'on' | 'soft' | 'status' | 'identify';

export type SwitchStep =
  | { do: 'command'; commands: { device: PowerDevice; verb: SwitchVerb; limitMs: number }[] }
  | { do: 'done'; ok: boolean; detail: string }
  /** At the latest until then; a command that ends or a changed record wakes earlier. */
  | { do: 'wait'; untilMs: number };

/** Where the system's power-on after a recovery and an operator's order go different ways. */
interface SwitchRules {
  /**
   * What forbids to write to a power device is waited out, or ends the order: it may be unwanted when that ends. A wait is
   * overruled by inventory, which at a pause, mode observe, a cordon or ungated work writes that the power-on is
   * wanted no more (`withheld`): the node then stays off also when the pause has ended. The wait covers the time until that is written, and
   * what inventory does not withhold for, as where it cannot read the settings.
   */
  onHold: 'wait' | 'give-up';
  /** The quarantine is waited for also where no `off` was ordered, as the node was found off. */
  quarantine: 'always' | 'after-off';
  /** Its power is read before the first `on`: what reads as on is not switched. */
  readsFirst: boolean;
  /** `on` is repeated also where the power cannot be read; otherwise the order fails: nobody would see what came of it. */
  switchesUnread: boolean;
  reached: string;
}

const rules: Record<SwitchWish['orderer'], SwitchRules> = {
  system: {
    onHold: 'wait',
    quarantine: 'always',
    readsFirst: false,
    switchesUnread: true,
    reached: 'Powered on, and read back as on.',
  },
  operator: {
    onHold: 'give-up',
    quarantine: 'after-off',
    readsFirst: true,
    switchesUnread: false,
    reached: 'The power was read as on.',
  },
};

/** Between two reads, ms. */
const SWITCH_READ_AGAIN_MS = 1_000;
/** A machine that does not read as on this long after `on` is ordered on again, ms. */
const ON_AGAIN_MS = 10_000;
/** A command is given so often at most. */
const MOST_TRIES = 3;
/** A device that did not say who it is is asked again after this, ms, three times in all. */
const SWITCH_IDENTIFY_AGAIN_MS = 5_000;
const NO_DEVICE = 'The node has no power device.';

/**
 * The next step of switching a node on, or of asking its system to shut down. Pure. Nothing is switched on before the
 * quarantine has passed on this process's own clock: an `off` may be carried out so much later than it was given, and
 * would then take down a node that has just come back. A node that has booted since it was to be shut down is left
 * alone.
 *
 * A device that was proven to be the node's own by what it says of itself is given nothing, and what it reads counts
 * for nothing, unless it has said so again shortly before.
 */
export function decideSwitch(
  wish: SwitchWish,
  log: CommandLog,
  levels: readonly (readonly PowerDevice[])[],
  m: SwitchMemory,
  now: number,
): SwitchStep {
  const rule = rules[wish.orderer];
  const devices = wish.verb === 'soft' ? softDevices(levels) : powerOnDevices(log, wish.level, levels);
  const over = rule.onHold === 'give-up' ? (m.hold ?? refusal(wish, devices, m)) : undefined;
  // A command under way is waited for: how it ended belongs into the record.
  if (over !== undefined)
    return m.busy.length > 0
      ? { do: 'wait', untilMs: now + SWITCH_READ_AGAIN_MS }
      : { do: 'done', ok: false, detail: over };
  const isQuarantined = wish.verb === 'on' && (rule.quarantine === 'always' || lastOff(log) !== undefined);
  const quietUntil = m.quietSinceMs + POWER_QUARANTINE_MS;
  if (isQuarantined && now < quietUntil) return { do: 'wait', untilMs: quietUntil };
  if (devices.length === 0) return { do: 'done', ok: false, detail: NO_DEVICE };

  const plans = devices.map((d) => planDevice(wish, log, d, m, now));
  if (plans.every((p) => p.do === 'reached'))
    return { do: 'done', ok: true, detail: wish.verb === 'soft' ? 'The system was asked to shut down.' : rule.reached };
  const failed = plans.find((p) => p.do === 'failed');
  if (failed?.do === 'failed' && m.busy.length === 0) return { do: 'done', ok: false, detail: failed.detail };
  // Reading goes on while nothing may be switched.
  const may = (verb: SwitchVerb): boolean => changesNothing(verb) || m.hold === undefined;
  const commands = plans.flatMap((p) =>
    p.do === 'command' && may(p.verb) ? [{ device: p.device, verb: p.verb, limitMs: FencingNumbers.commandLimit }] : [],
  );
  if (commands.length > 0) return { do: 'command', commands };
  return { do: 'wait', untilMs: Math.min(...plans.flatMap((p) => (p.do === 'wait' ? [p.untilMs] : [])), now + 5_000) };
}

const changesNothing = (verb: SwitchVerb): boolean => verb === 'status' || verb === 'identify';

function refusal(wish: SwitchWish, devices: readonly PowerDevice[], m: SwitchMemory): string | undefined {
  if (devices.length === 0) return NO_DEVICE;
  if (isForEarlierBoot(wish, m.bootId)) return 'The node has rebooted since it was ordered.';
  return undefined;
}

type Plan =
  | { do: 'busy' }
  | { do: 'reached' }
  | { do: 'command'; device: PowerDevice; verb: SwitchVerb }
  | { do: 'wait'; untilMs: number }
  | { do: 'failed'; detail: string };

function planDevice(wish: SwitchWish, log: CommandLog, device: PowerDevice, m: SwitchMemory, now: number): Plan {
  if (m.busy.includes(device.id)) return { do: 'busy' };
  const owner = switchOwner(wish, log, device, m);
  const remedy = `See muster node power-device test ${wish.node}.`;
  if (owner.is === 'other') return { do: 'failed', detail: `IDENTITY_MISMATCH: ${device.id}: ${owner.why}. ${remedy}` };
  const counting = { ...m, reads: m.reads.filter((r) => standsFor(owner, r.startedMs)) };
  const plan = wish.verb === 'soft' ? planSoft(wish, log, device) : planOn(wish, log, device, counting, now);
  if (plan.do !== 'command' || standsFor(owner, now)) return plan;
  // It is not given now anyway: to ask over and over meanwhile helps nobody.
  if (m.hold !== undefined && !changesNothing(plan.verb)) return plan;
  return planIdentify(device, owner, m, remedy, now);
}

/**
 * Whose is a device that an order comes to? The second half of a cycle or a drill switches on what the first has
 * switched off: also where the first has shown that it is another machine's, which is off by mistake then.
 */
export function switchOwner(
  wish: SwitchWish,
  log: CommandLog,
  device: PowerDevice,
  m: Pick<SwitchMemory, 'identified' | 'identities'>,
): DeviceOwner {
  const ordered = wish.orderer === 'operator' && wish.verb === 'on' ? wish.order.after : Infinity;
  const isUndone = (latestOff(log, device.id)?.command.n ?? 0) > ordered;
  if (isUndone && identityStanding(m.identified, device) !== 'proven') return { is: 'unproven' };
  return deviceOwner(m.identified, device, m.identities);
}

/** Asks the device who it is, again where it did not say. */
function planIdentify(device: PowerDevice, owner: DeviceOwner, m: SwitchMemory, remedy: string, now: number): Plan {
  const saidMs = owner.is === 'own' ? Math.max(...owner.readsMs) : -Infinity;
  const basis = identityBasis(device);
  const unread = m.identities.filter((r) => r.device === device.id && r.basis === basis && r.startedMs > saidMs);
  const last = unread.at(-1);
  if (unread.length >= MOST_TRIES)
    return {
      do: 'failed',
      detail: `${identityUnread(device, last)}: it is given nothing. ${remedy}`,
    };
  const notBefore = last === undefined ? now : last.endedMs + SWITCH_IDENTIFY_AGAIN_MS;
  return now >= notBefore ? { do: 'command', device, verb: 'identify' } : { do: 'wait', untilMs: notBefore };
}

/** Commands to the device that belong to the wish: of an order those after it, of a power-on those after the last `off`. */
function givenTo(wish: SwitchWish, { commands }: CommandLog, device: PowerDevice): PowerCommand[] {
  const isOf = (c: PowerCommand): boolean => c.verb === wish.verb && c.device === device.id;
  if (wish.orderer === 'operator') return commands.filter((c) => c.n > wish.order.after && isOf(c));
  return commands.slice(commands.findLastIndex((c) => c.verb === 'off') + 1).filter(isOf);
}

function planSoft(wish: SwitchWish, log: CommandLog, device: PowerDevice): Plan {
  const given = givenTo(wish, log, device);
  const last = given.at(-1);
  if (last?.result?.ok === true) return { do: 'reached' };
  if (given.length < MOST_TRIES) return { do: 'command', device, verb: 'soft' };
  return { do: 'failed', detail: `${device.id} did not take it: ${last?.result?.code ?? 'no answer'}.` };
}

function planOn(wish: SwitchWish, log: CommandLog, device: PowerDevice, m: SwitchMemory, now: number): Plan {
  const rule = rules[wish.orderer];
  const given = givenTo(wish, log, device);
  if (given.length === 0 && !rule.readsFirst) return { do: 'command', device, verb: 'on' };
  const endedMs = m.endedMs[device.id] ?? -Infinity;
  const reads = m.reads.filter((r) => r.device === device.id && r.startedMs >= endedMs);
  const last = reads.at(-1);
  if (last === undefined) return { do: 'command', device, verb: 'status' };
  if (last.power === 'on') return { do: 'reached' };
  const isDue = given.length === 0 || given.at(-1)?.result?.ok !== true || now >= endedMs + ON_AGAIN_MS;
  if (isDue && (rule.switchesUnread || last.power === 'off')) {
    if (given.length < MOST_TRIES) return { do: 'command', device, verb: 'on' };
    return { do: 'failed', detail: `${device.id} was ordered on ${given.length} times and reads ${last.power}.` };
  }
  if (last.power === 'unknown' && reads.length >= MOST_TRIES && isDue)
    return { do: 'failed', detail: `${device.id} cannot be read: ${last.code ?? 'unknown'}.` };
  const next = last.endedMs + SWITCH_READ_AGAIN_MS;
  return now >= next ? { do: 'command', device, verb: 'status' } : { do: 'wait', untilMs: next };
}
