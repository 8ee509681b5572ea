import type { IncidentRecord } from '#contracts';
import type { GateFacts } from '#domain/incident/gates.js';

type Witness = Pick<GateFacts, 'power' | 'hungForMs'>;

/** What only the conductor gathers, put into the incident when it goes to fencing. */
export function evidenceOf(f: Witness): NonNullable<IncidentRecord['evidence']> {
  return {
    ...(f.power !== undefined && { power: f.power }),
    ...(f.hungForMs !== undefined && { hungForMs: f.hungForMs }),
  };
}

/**
 * The recheck may be answered by any replica, which has read no power and has just begun to count, and
 * while a node is fenced nobody may read its devices: so what the order rests on goes with it. An order that failed
 * rests on nothing any more; the next one is decided on what is seen then.
 */
export function withCarried(own: Witness, i: IncidentRecord | undefined): Witness {
  const carried = i?.phase === 'fencing' ? i.evidence : undefined;
  if (carried === undefined) return own;
  return {
    power: carried.power ?? own.power,
    // What is not hung now has not been so for long.
    hungForMs: own.hungForMs === undefined ? undefined : Math.max(own.hungForMs, carried.hungForMs ?? 0),
  };
}
