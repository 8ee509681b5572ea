import type { IncidentRecord, NodeRecord } from '#contracts';
import { isOffByIncident } from '#domain/incident/proven-off.js';
import { isHeardByRecord } from '#domain/verdict/heard.js';

/**
 * The node's record once its power is proven off; undefined: it says so already. Between the proof and this write the
 * node may have booted by itself, and its new boot may have been heard: then it is not off any more, but it has
 * returned, and is checked before it serves.
 * @param bootId that was ended by it; undefined: none is known
 * @param at wall clock, for people
 */
export function switchedOff(
  n: NodeRecord,
  i: Pick<IncidentRecord, 'id'>,
  bootId: string | undefined,
  at: number,
): NodeRecord | undefined {
  // The maintenance outlives the proof: a boot that was heard since has taken that away, and it stays away.
  if (isOffByIncident(n, i) || n.maintenance?.incident === i.id) return undefined;
  const maintenance = { reason: 'fenced', at, incident: i.id };
  if (hasBootedAgain(n, bootId))
    return { ...n, maintenance, pendingReturn: n.pendingReturn ?? { reason: 'rebooted', at } };
  return {
    ...n,
    ...(bootId !== undefined && { bootId }),
    state: 'Disappeared',
    prevState: n.state === 'Disappeared' ? n.prevState : n.state,
    maintenance,
    confirmedOff: { at, incident: i.id, ...(bootId !== undefined && { bootId }) },
  };
}

const hasBootedAgain = (n: NodeRecord, ended: string | undefined): boolean =>
  isHeardByRecord(n) && n.bootId !== undefined && ended !== undefined && n.bootId !== ended;
