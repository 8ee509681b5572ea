import {
  FencingNumbers,
  POWER_QUARANTINE_MS,
  type FencingSettings,
  type IncidentRecord,
  type NodeRecord,
  type PowerCommand,
  type PowerDevice,
} from '#contracts';
import { powerBar } from '#domain/power/may-power.js';
import { latestOff } from './levels.js';
import type { PowerRead } from './fence-step.js';

/** What the leader has seen itself since the power-on was wanted; own monotonic clock, ms. */
export interface PowerOnMemory {
  /** When this process first saw the last `off` as it stands in the record (given, or ended). */
  quietSinceMs: number;
  reads: PowerRead[];
  onEndedMs: Record<string, number>;
  busy: readonly string[];
  /** Why nothing may be switched on now, see {@link powerOnHold}; reading goes on. */
  hold?: string;
}

export type PowerOnStep =
  | { do: 'idle' }
  | { do: 'command'; commands: { device: PowerDevice; verb: 'on' | 'status'; limitMs: number }[] }
  | { do: 'done'; ok: boolean; detail: string }
  | { do: 'wait'; untilMs: number };

const POLL_MS = 1_000;
/** A machine that does not read as on this long after `on` is ordered on again, ms. */
const ON_AGAIN_MS = 10_000;
const MOST_ONS = 3;

/** An incident whose recovery is through and whose node is wanted on again. */
export const wantsPowerOn = (i: IncidentRecord): boolean =>
  i.powerOn?.wanted === true &&
  i.powerOn.done !== true &&
  i.proof !== undefined &&
  (i.phase === 'recovering' || i.phase === 'recovered');

/**
 * What forbids to switch the node on now, in a sentence. Settings that are not known forbid it too.
 * @param wallNow a pause ends by the wall clock, as people set it
 * @param orderer @default 'system'
 */
export function powerOnHold(
  fencing: Pick<FencingSettings, 'mode' | 'paused'> | undefined,
  node: Pick<NodeRecord, 'cordon'> | undefined,
  wallNow: number,
  orderer: 'system' | 'operator' = 'system',
): string | undefined {
  const bar = powerBar(orderer, fencing, node, wallNow);
  switch (bar?.kind) {
    case 'observe':
      return 'The mode of fencing is not enforce.';
    case 'paused':
      return `Fencing is paused by ${bar.by}: ${bar.reason}.`;
    case 'not-registered':
      return 'It is not registered.';
    case 'cordoned':
      return `It is cordoned by ${bar.by}: ${bar.reason}.`;
    default:
      return undefined;
  }
}

/** The state of the last `off`: when it changes, W begins anew. */
export function offMark(i: Pick<IncidentRecord, 'id' | 'commands'>): string {
  const off = i.commands.findLast((c) => c.verb === 'off');
  return `${i.id}/${off?.n ?? 0}/${off?.endedAt === undefined ? 'given' : 'ended'}`;
}

/**
 * Power-on after recovery. Pure. Not before W has passed on this process's own clock: an `off` may be carried out so
 * much later than it was given, and would then take down a node that has just come back.
 */
export function decidePowerOn(
  i: IncidentRecord,
  levels: readonly (readonly PowerDevice[])[],
  m: PowerOnMemory,
  now: number,
): PowerOnStep {
  if (!wantsPowerOn(i)) return { do: 'idle' };
  const quietUntil = m.quietSinceMs + POWER_QUARANTINE_MS;
  if (now < quietUntil) return { do: 'wait', untilMs: quietUntil };
  const devices = powerOnDevices(i, levels);
  if (devices.length === 0) return { do: 'done', ok: false, detail: 'The node has no power device.' };

  const plans = devices.map((device) => plan(i, device, m, now));
  if (plans.every((p) => p.do === 'on')) return { do: 'done', ok: true, detail: 'Powered on, and read back as on.' };
  const given = plans.find((p) => p.do === 'given-up');
  if (given?.do === 'given-up' && m.busy.length === 0) return { do: 'done', ok: false, detail: given.detail };
  const may = (verb: 'on' | 'status'): boolean => verb === 'status' || m.hold === undefined;
  const commands = plans.flatMap((p) => (p.do === 'command' && may(p.verb) ? [p] : []));
  if (commands.length > 0)
    return {
      do: 'command',
      commands: commands.map(({ device, verb }) => ({ device, verb, limitMs: FencingNumbers.commandLimit })),
    };
  return { do: 'wait', untilMs: Math.min(...plans.flatMap((p) => (p.do === 'wait' ? [p.untilMs] : [])), now + 5_000) };
}

/** Whatever this incident switched off; where it found the node off, the first level. */
export function powerOnDevices(
  i: Pick<IncidentRecord, 'commands' | 'proof'>,
  levels: readonly (readonly PowerDevice[])[],
): PowerDevice[] {
  const ordered = levels.flat().filter((d) => latestOff(i, d.id) !== undefined);
  return ordered.length > 0 ? ordered : [...(levels[i.proof?.level ?? 0] ?? [])];
}

type Plan =
  | { do: 'busy' }
  | { do: 'on' }
  | { do: 'command'; device: PowerDevice; verb: 'on' | 'status' }
  | { do: 'wait'; untilMs: number }
  | { do: 'given-up'; detail: string };

/** Orders to power on of this incident: those after its last `off`. */
function ordersOn(i: Pick<IncidentRecord, 'commands'>, device: string): PowerCommand[] {
  const lastOff = i.commands.findLastIndex((c) => c.verb === 'off');
  return i.commands.slice(lastOff + 1).filter((c) => c.verb === 'on' && c.device === device);
}

function plan(i: IncidentRecord, device: PowerDevice, m: PowerOnMemory, now: number): Plan {
  if (m.busy.includes(device.id)) return { do: 'busy' };
  const orders = ordersOn(i, device.id);
  if (orders.length === 0) return { do: 'command', device, verb: 'on' };
  const endedMs = m.onEndedMs[device.id] ?? -Infinity;
  const last = m.reads.filter((r) => r.device === device.id && r.startedMs >= endedMs).at(-1);
  if (last === undefined) return { do: 'command', device, verb: 'status' };
  if (last.power === 'on') return { do: 'on' };
  const accepted = orders.at(-1)?.result?.ok === true;
  if (!accepted || now >= endedMs + ON_AGAIN_MS) {
    if (orders.length < MOST_ONS) return { do: 'command', device, verb: 'on' };
    return { do: 'given-up', detail: `${device.id} was ordered on ${orders.length} times and reads ${last.power}.` };
  }
  const next = last.endedMs + POLL_MS;
  return now >= next ? { do: 'command', device, verb: 'status' } : { do: 'wait', untilMs: next };
}
