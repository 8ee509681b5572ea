import type { IncidentRecord, StormView } from '#contracts';
import { bootMissed } from '#domain/power/boot-grace.js';
import { isActive } from '../../alarms/active.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { AgeMs, SightedMs } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { runningBy } from '../alarms/dead-work.js';
import { alarmsOf, FENCING_STUCK_MS } from './incident-alarms.js';
import { incidentsOf } from './incident-facts.js';

/** For how long what incidents wait for has been awaited, as the asker has seen it; 0: it has only just begun. */
export interface WaitAges {
  /** Of one of {@link fencingOrders}. */
  ofOrder(order: string): AgeMs;
  /**
   * Of one of {@link missedBoots}. Time in which the monitor did not see the fleet does not count: it could not have heard
   * the node.
   */
  ofBoot(boot: string): SightedMs;
}

/** Orders to fence that are not carried out yet. */
export const fencingOrders = (fleet: Fleet): string[] =>
  readableIncidents(fleet)
    .filter((i) => i.phase === 'fencing')
    .map(orderOf);

/** Boots that are awaited of nodes that are not heard. */
export const missedBoots = (fleet: Fleet): string[] =>
  readableIncidents(fleet).flatMap((i) => bootMissed(i, fleet.nodes.get(i.node)?.value) ?? []);

/**
 * All alarms that the incidents call for as of now.
 * @param storms those that stand
 */
export function alarmsOfIncidents(fleet: Fleet, waits: WaitAges, storms: readonly StormView[]): WantedAlarm[] {
  // One that stands has waited for its grace, if in another process: a takeover must not end it.
  const told = new Set(
    fleet.alarms.list.flatMap(({ value: a }) => (a.code === 'boot-timeout' && isActive(a) ? [a.subject] : [])),
  );
  return alarmsOf(
    readableIncidents(fleet),
    (node) => fleet.nodes.get(node)?.value,
    (i) => waits.ofOrder(orderOf(i)) > FENCING_STUCK_MS,
    (boot, node) => told.has(node) || waits.ofBoot(boot) >= fleet.settings.leaveGrace,
    storms,
    (node) => workIn(fleet).get(node) ?? [],
  );
}

const readableIncidents = perFleet((fleet) => incidentsOf(fleet).filter((i) => i.unreadable === undefined));

/** Gathered when an alarm asks for it. */
const workIn = perFleet(({ workloads }) => runningBy(workloads.list.map((e) => e.value)));

/** Each attempt is an order of its own. */
const orderOf = (i: IncidentRecord): string => `${i.id}/${i.attempt}`;
