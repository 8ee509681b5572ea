import { identityStanding, isOpenIncident, type IncidentRecord, type NodeRecord, type PowerDevice } from '#contracts';

/** Phases that nothing but a proof of off, or a person's word, leads to. */
const afterProof: readonly IncidentRecord['phase'][] = ['fenced', 'recovering', 'recovered'];

/** Nobody has shown whose it is: its power may be another machine's. */
const isAnybodys = (n: NodeRecord, d: PowerDevice): boolean => identityStanding(n, d) !== 'proven';

/** The node has a device that may switch another machine. */
export const hasUnprovenDevice = (n: NodeRecord): boolean => n.powerLevels.flat().some((d) => isAnybodys(n, d));

/**
 * What called the node off may have spoken of another machine. A person's word rests on no device, and of a node that was
 * deleted no device is known.
 */
export const isProofOfAnybody = ({ proof }: Pick<IncidentRecord, 'proof'>, n: NodeRecord | undefined): boolean =>
  n !== undefined &&
  proof !== undefined &&
  proof.kind !== 'manual' &&
  (n.powerLevels[proof.level ?? 0] ?? []).some((d) => isAnybodys(n, d));

/** Nodes fell silent with its off, and nobody knows yet which of them was powered off. */
export const isOffInDoubt = ({ phase, collateral }: Pick<IncidentRecord, 'phase' | 'collateral'>): boolean =>
  phase === 'fenced' && collateral !== undefined && collateral.nodes.length > 0;

/** The node was seen to live after its proof of off, and has not been proven off anew, nor is that over. */
export const isProofRefuted = (i: Pick<IncidentRecord, 'phase' | 'contradiction'>): boolean =>
  i.contradiction !== undefined && isOpenIncident(i) && !afterProof.includes(i.phase);
