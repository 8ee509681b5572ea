import {
  FencingNumbers,
  POWER_QUARANTINE_MS,
  type IncidentRecord,
  type PowerCommand,
  type PowerDevice,
  type PowerOrder,
} from '#contracts';
import { isOrderDue } from '#domain/incident/order.js';
import type { PowerRead } from './fence-step.js';
import { powerOnDevices } from './power-on-step.js';

/** What the leader has seen itself since it took up the order; own monotonic clock, ms. */
export interface PowerOrderMemory {
  /** When this process first saw the incident's last `off` as it stands in the record (given, or ended). */
  quietSinceMs: number;
  reads: PowerRead[];
  endedMs: Record<string, number>;
  busy: readonly string[];
  /** Why no power device may be written to now: then the order is given up, since it may be unwanted when that ends. */
  hold?: string;
  /** The boot that the node runs, by its record. */
  bootId?: string | undefined;
}

export type PowerOrderStep =
  | { do: 'idle' }
  | { do: 'command'; commands: { device: PowerDevice; verb: 'on' | 'soft' | 'status'; limitMs: number }[] }
  | { do: 'done'; ok: boolean; detail: string }
  | { do: 'wait'; untilMs: number };

const POLL_MS = 1_000;
/** A machine that does not read as on this long after `on` is ordered on again, ms. */
const ON_AGAIN_MS = 10_000;
const MOST_TRIES = 3;

/**
 * The next step of an operator's order. Pure. Nothing is switched on before W has passed on this process's own clock,
 * and nothing that reads as on already; a node that has booted since it was to be shut down is left alone.
 */
export function decideOrder(
  i: IncidentRecord,
  levels: readonly (readonly PowerDevice[])[],
  m: PowerOrderMemory,
  now: number,
): PowerOrderStep {
  const { order } = i;
  if (order === undefined || !isOrderDue(i)) return { do: 'idle' };
  const devices = order.action === 'soft' ? (levels[0] ?? []).slice(0, 1) : powerOnDevices(i, levels);
  const over = m.hold ?? refusal(order, devices, m);
  // A command under way is waited for: how it ended belongs into the record.
  if (over !== undefined)
    return m.busy.length > 0 ? { do: 'wait', untilMs: now + POLL_MS } : { do: 'done', ok: false, detail: over };
  const wasOff = i.commands.some((c) => c.verb === 'off');
  const quietUntil = m.quietSinceMs + POWER_QUARANTINE_MS;
  if (order.action === 'on' && wasOff && now < quietUntil) return { do: 'wait', untilMs: quietUntil };

  const plans = devices.map((d) => (order.action === 'soft' ? planSoft(i, order, d, m) : planOn(i, order, d, m, now)));
  const failed = plans.find((p) => p.do === 'failed');
  if (failed?.do === 'failed' && m.busy.length === 0) return { do: 'done', ok: false, detail: failed.detail };
  if (plans.every((p) => p.do === 'reached'))
    return {
      do: 'done',
      ok: true,
      detail: order.action === 'soft' ? 'The system was asked to shut down.' : 'The power was read as on.',
    };
  const commands = plans.flatMap((p) =>
    p.do === 'command' ? [{ device: p.device, verb: p.verb, limitMs: FencingNumbers.commandLimit }] : [],
  );
  if (commands.length > 0) return { do: 'command', commands };
  return { do: 'wait', untilMs: Math.min(...plans.flatMap((p) => (p.do === 'wait' ? [p.untilMs] : [])), now + 5_000) };
}

function refusal(order: PowerOrder, devices: readonly PowerDevice[], m: PowerOrderMemory): string | undefined {
  if (devices.length === 0) return 'The node has no power device.';
  if (order.action === 'soft' && order.bootId !== m.bootId) return 'The node has rebooted since it was ordered.';
  return undefined;
}

type Plan =
  | { do: 'busy' }
  | { do: 'reached' }
  | { do: 'command'; device: PowerDevice; verb: 'on' | 'soft' | 'status' }
  | { do: 'wait'; untilMs: number }
  | { do: 'failed'; detail: string };

const ordersOf = (i: IncidentRecord, order: PowerOrder, device: PowerDevice): PowerCommand[] =>
  i.commands.filter((c) => c.n > order.after && c.verb === order.action && c.device === device.id);

function planSoft(i: IncidentRecord, order: PowerOrder, device: PowerDevice, m: PowerOrderMemory): Plan {
  if (m.busy.includes(device.id)) return { do: 'busy' };
  const given = ordersOf(i, order, device);
  const last = given.at(-1);
  if (last?.result?.ok === true) return { do: 'reached' };
  if (given.length < MOST_TRIES) return { do: 'command', device, verb: 'soft' };
  return { do: 'failed', detail: `${device.id} did not take it: ${last?.result?.code ?? 'no answer'}.` };
}

function planOn(i: IncidentRecord, order: PowerOrder, device: PowerDevice, m: PowerOrderMemory, now: number): Plan {
  if (m.busy.includes(device.id)) return { do: 'busy' };
  const given = ordersOf(i, order, device);
  const endedMs = m.endedMs[device.id] ?? -Infinity;
  const reads = m.reads.filter((r) => r.device === device.id && r.startedMs >= endedMs);
  const last = reads.at(-1);
  if (last === undefined) return { do: 'command', device, verb: 'status' };
  if (last.power === 'on') return { do: 'reached' };
  const isDue = given.length === 0 || given.at(-1)?.result?.ok !== true || now >= endedMs + ON_AGAIN_MS;
  // What cannot be read is not switched: nobody would see what came of it.
  if (isDue && last.power === 'off') {
    if (given.length < MOST_TRIES) return { do: 'command', device, verb: 'on' };
    return { do: 'failed', detail: `${device.id} was ordered on ${given.length} times and reads ${last.power}.` };
  }
  if (last.power === 'unknown' && reads.length >= MOST_TRIES && isDue)
    return { do: 'failed', detail: `${device.id} cannot be read: ${last.code ?? 'unknown'}.` };
  const next = last.endedMs + POLL_MS;
  return now >= next ? { do: 'command', device, verb: 'status' } : { do: 'wait', untilMs: next };
}
