import type { IncidentRecord, NodeRecord } from '#contracts';
import { isOffByIncident } from '#domain/incident/proven-off.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { wordOf } from '../power/contradicted.js';

/** From the first report of a new boot until a verdict says that it is up, at most, ms: 1.2 s where a detector has a quorum. */
export const VERDICT_WITHIN_MS = 3_000;

/** The last report of a node, and what this process has seen of its incident, ms ago. */
export interface BootFacts {
  /** Undefined: it was never heard. */
  heard: { bootId: string; agoMs: number } | undefined;
  /** Undefined: the incident was there when this process began, or nothing has seen it. */
  openedAgoMs: number | undefined;
  /** The same of its proof of off. */
  provenAgoMs: number | undefined;
}

export const bootFacts = (i: IncidentRecord, fleet: Fleet): BootFacts => ({
  heard: wordOf(fleet, i.node),
  openedAgoMs: fleet.openedAgo(i),
  provenAgoMs: fleet.provenAgo(i),
});

/**
 * The boot that was ended by the power-off of an incident: the one that was heard last before the proof. It need not be
 * the one that the incident was opened about: a machine that boots by itself may speak for a moment before it is off. By
 * that boot's words it would count as on again.
 * @param node its record: what was marked by this incident stands
 */
export function endedBoot(
  i: Pick<IncidentRecord, 'id' | 'bootId'>,
  node: Pick<NodeRecord, 'bootId' | 'confirmedOff'> | undefined,
  { heard, openedAgoMs = Infinity, provenAgoMs }: BootFacts,
): string | undefined {
  if (node !== undefined && isOffByIncident(node, i)) return node.confirmedOff?.bootId;
  const isBefore = heard !== undefined && provenAgoMs !== undefined && heard.agoMs >= provenAgoMs;
  return isBefore && heard.agoMs <= openedAgoMs ? heard.bootId : (i.bootId ?? node?.bootId);
}

/** The boots around a proof of off. */
export interface ProofBoots {
  /** Ended by it; undefined: none is known. */
  ended: string | undefined;
  /** Another one that has spoken since the proof, or may have: the machine has booted by itself. Undefined: none is known. */
  since: string | undefined;
}

/** @param node its record: what was marked by this incident stands */
export function proofBoots(
  i: Pick<IncidentRecord, 'id' | 'bootId'>,
  node: Pick<NodeRecord, 'bootId' | 'confirmedOff'> | undefined,
  facts: BootFacts,
): ProofBoots {
  const ended = endedBoot(i, node, facts);
  const { heard, provenAgoMs = Infinity } = facts;
  const isSince = heard !== undefined && heard.bootId !== ended && heard.agoMs < provenAgoMs;
  return { ended, since: isSince ? heard.bootId : undefined };
}

/**
 * It has just spoken in a boot after its proof of off, and its record does not say so yet: by the next verdict it is on
 * again, and what runs there stays. One of which no verdict comes has fallen silent, or nobody judges: it is off by its
 * record, as before.
 * @param node its record; undefined: it is gone
 */
export function isComingBack(
  i: IncidentRecord,
  node: Pick<NodeRecord, 'bootId' | 'confirmedOff'> | undefined,
  fleet: Fleet,
): boolean {
  const facts = bootFacts(i, fleet);
  const { since } = proofBoots(i, node, facts);
  return since !== undefined && since !== node?.bootId && (facts.heard?.agoMs ?? Infinity) < VERDICT_WITHIN_MS;
}
