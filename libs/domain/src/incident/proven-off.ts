import type { IncidentRecord, NodeRecord } from '#contracts';

/**
 * By its record the node is off, and it was this incident that has proven it. The proof of another one is no word about
 * what this one has ordered.
 */
export const isOffByIncident = (n: Pick<NodeRecord, 'confirmedOff'>, i: Pick<IncidentRecord, 'id'>): boolean =>
  n.confirmedOff?.incident === i.id;
