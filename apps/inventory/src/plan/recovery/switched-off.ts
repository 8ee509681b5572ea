import type { IncidentRecord, NodeRecord } from '#contracts';
import { isOffByIncident } from '#domain/incident/proven-off.js';
import { stateAfter } from '#domain/node/state.js';
import { isHeardByRecord } from '#domain/verdict/heard.js';
import type { ProofBoots } from './ended-boot.js';

/**
 * The node's record once its power is proven off; undefined: it says so already. Between the proof and this write the
 * node may have booted by itself, and its new boot may have been heard: then it is not off any more, but it has
 * returned, and is checked before it serves. Where it has fallen silent again since, that proof says nothing of it either.
 * @param at wall clock, for people
 */
export function switchedOff(
  n: NodeRecord,
  i: Pick<IncidentRecord, 'id'>,
  boots: ProofBoots,
  at: number,
): NodeRecord | undefined {
  const { ended } = boots;
  // The maintenance outlives the proof: a boot that was heard since has taken that away, and it stays away.
  if (isOffByIncident(n, i) || n.maintenance?.incident === i.id) return undefined;
  const maintenance = { reason: 'fenced', at, incident: i.id };
  if (hasBootedAgain(n, boots))
    return { ...n, maintenance, pendingReturn: n.pendingReturn ?? { reason: 'rebooted', at } };
  return {
    ...n,
    ...(ended !== undefined && { bootId: ended }),
    state: stateAfter['proven-off'],
    prevState: n.state === 'Disappeared' ? n.prevState : n.state,
    maintenance,
    confirmedOff: { at, incident: i.id, ...(ended !== undefined && { bootId: ended }) },
  };
}

/** Its record alone cannot say so of one that is silent: the other boot that it names may be one of before the off. */
const hasBootedAgain = (n: NodeRecord, { ended, since }: ProofBoots): boolean =>
  n.bootId !== undefined && ended !== undefined && n.bootId !== ended && (isHeardByRecord(n) || n.bootId === since);
