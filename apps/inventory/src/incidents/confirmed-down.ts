import { MusterError, type IncidentRecord, type OffProof } from '#contracts';
import { withoutOrder } from '#domain/incident/pending-order.js';
import { isAfterOff, mayGo } from '#domain/incident/phases.js';
import { go, note } from '#domain/incident/steps.js';

/** A person's word that a node is down. */
export interface DownWord {
  by: string;
  reason: string;
  /** Wall clock, ms. */
  at: number;
}

/**
 * The incident by that word. The word of its device gives way to it where that is held, or does not count yet, or is in
 * doubt; not while the node is being switched on, before which a person may stand.
 * @throws MusterError INCIDENT_STATE it needs none
 */
export function confirmedDown(now: IncidentRecord, { by, reason, at }: DownWord): IncidentRecord {
  const proof: OffProof = { kind: 'manual', at, by, reason };
  const text = `${by} confirmed that it is down: ${reason}`;
  const isSwitchedOn = now.powerOn?.wanted === true && now.powerOn.done !== true;
  const isDoubted = isAfterOff(now) && now.proof?.doubt !== undefined && !isSwitchedOn;
  if ((now.phase === 'fenced' || isDoubted) && now.proof?.kind !== 'manual') return { ...note(now, text, at), proof };
  if (!mayGo(now, 'fenced'))
    throw new MusterError('INCIDENT_STATE', `The incident of ${now.node} is ${now.phase}: it needs no confirmation.`, {
      node: now.node,
      phase: now.phase,
    });
  const byHand = `${by} confirmed it down by hand, and may stand before it: power it on by hand.`;
  return { ...withoutOrder(go(now, 'fenced', text, at), byHand), proof };
}
