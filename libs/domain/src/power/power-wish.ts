import type { IncidentRecord, PowerDevice, PowerOrder } from '#contracts';
import { isOrderDue } from '../incident/order.js';
import { firstLevel, latestOff } from './levels.js';

/**
 * What a node's record wants of its power now, and by whom it is ordered. `off` is a fencing, by a verdict or by hand, and
 * goes on until it is proven. `on` by the system follows a recovery, and by an operator is an order, as is `soft`.
 *
 * A cycle is two of them one after the other: the fencing, and the order `on` that waits in its record until what ran there
 * is recovered.
 */
export type PowerWish =
  | { verb: 'off'; orderer: 'incident' }
  | { verb: 'on'; orderer: 'system' }
  | { verb: PowerOrder['action']; orderer: 'operator'; order: PowerOrder };

/** By an order, and not by a fencing. */
export type SwitchWish = Exclude<PowerWish, { verb: 'off' }>;

/** An incident whose node is wanted on again after its recovery. */
const wantsPowerOn = (i: Pick<IncidentRecord, 'phase' | 'powerOn' | 'proof'>): boolean =>
  i.powerOn?.wanted === true &&
  i.powerOn.done !== true &&
  i.proof !== undefined &&
  (i.phase === 'recovering' || i.phase === 'recovered');

/** Undefined: there is nothing to be done with its power. Off comes first, and an order last. */
export function powerWish(i: IncidentRecord): PowerWish | undefined {
  if (i.phase === 'fencing') return { verb: 'off', orderer: 'incident' };
  if (wantsPowerOn(i)) return { verb: 'on', orderer: 'system' };
  if (i.order === undefined || !isOrderDue(i)) return undefined;
  return { verb: i.order.action, orderer: 'operator', order: i.order };
}

/** Switched on again: whatever this incident switched off; where it found the node off, the level that proved it. */
export function powerOnDevices(
  i: Pick<IncidentRecord, 'commands' | 'devicesAfter' | 'proof'>,
  levels: readonly (readonly PowerDevice[])[],
): PowerDevice[] {
  const ordered = levels.flat().filter((d) => latestOff(i, d.id) !== undefined);
  return ordered.length > 0 ? ordered : [...(levels[i.proof?.level ?? 0] ?? [])];
}

/** The system is asked by one device: the first. */
export const softDevices = (levels: readonly (readonly PowerDevice[])[]): PowerDevice[] =>
  (levels[0] ?? []).slice(0, 1);

/**
 * The devices that are next, as far as their drivers are concerned: of the present level, of the one that the next
 * attempt begins with, or those that are switched on. A `soft` counts as these, too, though it goes to the first device alone.
 */
export function nextDevices(i: IncidentRecord, levels: readonly (readonly PowerDevice[])[]): readonly PowerDevice[] {
  if (i.phase === 'fencing') return levels[i.level] ?? [];
  return i.phase === 'failed' ? (levels[firstLevel(i)] ?? []) : powerOnDevices(i, levels);
}
