import {
  isOpenIncident,
  type DegradedSettings,
  type IncidentRecord,
  type NodeRecord,
  type OutReason,
  type Reservations,
} from '#contracts';
import { shutdownAwaited } from '#domain/incident/shut-down.js';
import { networksDown } from '#domain/verdict/networks-out.js';
import { avoidedBecause } from './degraded-policy.js';
import { outReasons } from './in-service.js';
import type { Offers } from './missing-drivers.js';
import { powerDrivers } from './node-rules.js';

/** What it rests on which nodes are in service, as of one moment. */
export interface ServiceGrounds {
  nodes(): readonly NodeRecord[];
  incident(node: string): IncidentRecord | undefined;
  held: Reservations['held'];
  policy: DegradedSettings['policy'];
  /** Why the watches behind it may not show all; undefined: they do. */
  gap: string | undefined;
  detectorSighted: boolean;
  /** Undefined: who offers what is not known. Then there is a {@link gap}, which alone keeps every node out. */
  offers: Offers | undefined;
}

/** Of each node why it is out of service: what they share is computed once. */
export function serviceReasons({ offers, ...g }: ServiceGrounds): (n: NodeRecord) => OutReason[] {
  const down = once(() => networksDown(g.nodes()));
  return (n) => {
    const incident = g.incident(n.name);
    return outReasons(n, {
      incident: incident && isOpenIncident(incident) ? incident : undefined,
      shutdown: shutdownAwaited(incident, n),
      hold: g.held[n.name],
      avoided: avoidedBecause(n, g.policy, down),
      missingPowerDrivers: offers === undefined ? [] : powerDrivers(n).filter((d) => !offers.power(d)),
      provisionable: offers?.provision(n.provisionDriver) ?? true,
      gap: g.gap,
      detectorSighted: g.detectorSighted,
    });
  };
}

function once<T>(fn: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: fn() }).value;
}
