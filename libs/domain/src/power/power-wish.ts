import {
  commandLogOf,
  type CommandLog,
  type IncidentPhase,
  type IncidentRecord,
  type PowerDevice,
  type PowerOrder,
} from '#contracts';
import { isOrderPending } from '../incident/pending-order.js';
import { quietPhases } from '../incident/phases.js';
import { firstLevel, latestOff } from './levels.js';

/** Off, by an incident, whoever opened it: at this level, in this attempt, of the devices that its order names. */
export interface FenceWish extends Pick<IncidentRecord, 'level' | 'attempt' | 'devices'> {
  verb: 'off';
  orderer: 'incident';
}

/** By an order, and not by a fencing. `level`: the one that is switched on where the log knows of no `off`. */
export type SwitchWish = { node: string; level: number } & (
  { verb: 'on'; orderer: 'system' } | { verb: PowerOrder['action']; orderer: 'operator'; order: PowerOrder }
);

/**
 * What a node's record wants of its power now, and by whom it is ordered. `off` is a fencing, by a verdict or by hand,
 * and goes on until it is proven. `on` by the system follows a recovery, and by an operator is an order, as is `soft`.
 *
 * A cycle is two of them one after the other: the fencing, and the order `on` that waits in its record until what ran
 * there is recovered.
 */
export type PowerWish = FenceWish | SwitchWish;

/** A system is asked to shut down in the boot that it ran when that was ordered, and in no other. */
export const isForEarlierBoot = (wish: PowerWish, bootId: string | undefined): boolean =>
  wish.orderer === 'operator' && wish.verb === 'soft' && wish.order.bootId !== bootId;

/** All of its record that a decision on a node's power goes by: what is ordered, if anything, and the log of its BMC. */
export interface NodePower {
  log: CommandLog;
  wish: PowerWish | undefined;
}

export const powerOf = (i: IncidentRecord): NodePower => ({ log: commandLogOf(i), wish: powerWish(i) });

export type WishName = PowerWish extends infer W
  ? W extends { verb: string; orderer: string }
    ? `${W['orderer']}-${W['verb']}`
    : never
  : never;

/** A wish that a record can hold. */
export interface WishRow {
  /** Of its incident. In any other phase it is not wanted. */
  phases: readonly IncidentPhase[];
  /** The member of the record that it stands in, until that is `done`; missing: the phase alone says it. */
  member?: 'powerOn' | 'order';
  /** Undefined: what stands in the record is not this, in whatever phase. */
  of: (i: IncidentRecord) => PowerWish | undefined;
}

const ordered =
  (action: PowerOrder['action']) =>
  (i: IncidentRecord): PowerWish | undefined =>
    i.order?.action === action && isOrderPending(i)
      ? { verb: action, orderer: 'operator', order: i.order, node: i.node, level: provenLevel(i) }
      : undefined;

/** All that a record can want of its power. The first row that holds is what it wants: off first, and an order last. */
export const wishTable: Readonly<Record<WishName, WishRow>> = {
  'incident-off': {
    phases: ['fencing'],
    of: ({ level, attempt, devices }) => ({
      verb: 'off',
      orderer: 'incident',
      level,
      attempt,
      ...(devices !== undefined && { devices }),
    }),
  },
  'system-on': {
    phases: ['recovering', 'recovered'],
    member: 'powerOn',
    of: (i) =>
      i.powerOn?.wanted === true && i.powerOn.done !== true && i.proof !== undefined
        ? { verb: 'on', orderer: 'system', node: i.node, level: provenLevel(i) }
        : undefined,
  },
  'operator-on': { phases: quietPhases, member: 'order', of: ordered('on') },
  'operator-soft': { phases: quietPhases, member: 'order', of: ordered('soft') },
};

const wishRows = Object.values(wishTable);

/** Undefined: there is nothing to be done with its power. */
export function powerWish(i: IncidentRecord): PowerWish | undefined {
  for (const { phases, of } of wishRows) {
    const wish = phases.includes(i.phase) ? of(i) : undefined;
    if (wish !== undefined) return wish;
  }
  return undefined;
}

/** The level that proved its off. */
export const provenLevel = (i: Pick<IncidentRecord, 'proof'>): number => i.proof?.level ?? 0;

/** Switched on again: whatever was switched off; where the node was found off, the level that proved it. */
export function powerOnDevices(
  log: CommandLog,
  level: number,
  levels: readonly (readonly PowerDevice[])[],
): PowerDevice[] {
  const ordered = levels.flat().filter((d) => latestOff(log, d.id) !== undefined);
  return ordered.length > 0 ? ordered : [...(levels[level] ?? [])];
}

/** The system is asked by one device: the first. */
export const softDevices = (levels: readonly (readonly PowerDevice[])[]): PowerDevice[] =>
  (levels[0] ?? []).slice(0, 1);

/**
 * The devices that are next, as far as their drivers are concerned: of the present level, of the one that the next
 * attempt begins with, or those that are switched on. A `soft` counts as these, too, though it goes to the first device
 * alone.
 */
export function nextDevices(i: IncidentRecord, levels: readonly (readonly PowerDevice[])[]): readonly PowerDevice[] {
  if (i.phase === 'fencing') return levels[i.level] ?? [];
  return i.phase === 'failed' ? (levels[firstLevel(i)] ?? []) : powerOnDevices(i, provenLevel(i), levels);
}
