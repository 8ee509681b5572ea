import { RESERVATIONS_KEY, type NodeRecord, type OutReason, type Reservations } from '#contracts';
import { offersOf } from '../nodes/missing-drivers.js';
import { serviceReasons } from '../nodes/service-reasons.js';
import type { Fleet } from '../snapshot/fleet.js';
import { perFleet } from '../snapshot/per-fleet.js';

/** Why a node is out of service; an empty list means in service. */
export const reasonsIn = perFleet((fleet: Fleet): ((n: NodeRecord) => OutReason[]) =>
  serviceReasons({
    nodes: () => fleet.nodes.list.map((e) => e.value),
    incident: (node) => fleet.incidents.get(node)?.value,
    held: heldIn(fleet),
    policy: fleet.settings.degraded.policy,
    gap: fleet.gap,
    detectorSighted: fleet.detector.sighted,
    offers: fleet.workers && offersOf(fleet.workers),
  }),
);

/** Node → who holds it. */
export const heldIn = ({ reservations }: Pick<Fleet, 'reservations'>): Reservations['held'] =>
  reservations.get(RESERVATIONS_KEY)?.value.held ?? {};
