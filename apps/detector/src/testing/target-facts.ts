import { absent, type Vote } from '../observers/stance.js';
import type { TargetFacts } from '../verdicts/quorum.js';

const NETWORKS = ['backend', 'management'];

/** What one observer says of the target. */
export type Observation = 'accuses' | 'suspects' | 'hears' | 'absent' | 'mute' | 'hears-management' | 'hears-backend';

export const vote = (said: Observation, i: number): Vote => {
  const v = absent(`o${i}`);
  if (said === 'accuses') return { ...v, stance: 'accuses', suspects: true, missingOn: NETWORKS, silentOn: NETWORKS };
  if (said === 'suspects') return { ...v, suspects: true, missingOn: NETWORKS };
  if (said === 'hears') return { ...v, stance: 'hears', heardOn: NETWORKS, answeredOn: NETWORKS };
  if (said === 'absent') return v;
  if (said === 'mute') return { ...v, missingOn: ['management'], silentOn: ['management'], muteOn: ['backend'] };
  const [on, off] = said === 'hears-management' ? ['management', 'backend'] : ['backend', 'management'];
  return {
    ...v,
    stance: 'hears',
    heardOn: [on as string],
    answeredOn: [on as string],
    missingOn: [off as string],
    silentOn: [off as string],
  };
};

export const many = <T extends Observation>(n: number, said: T): T[] => Array.from({ length: n }, () => said);

/**
 * A member whose own reports have ended and that does not echo to the monitor, by what the others say; each of them
 * reports unless it is absent.
 */
export const factsOf = (said: readonly Observation[], over: Partial<TargetFacts> = {}): TargetFacts => {
  const reporters = said.filter((s) => s !== 'absent').length;
  return {
    node: 'n0',
    networks: NETWORKS,
    out: [],
    members: said.length + 1,
    reporters,
    otherReporters: reporters,
    votes: said.map(vote),
    ownSilenceMs: 3000,
    ownFresh: false,
    conflict: false,
    ownProbe: 'silent',
    witness: false,
    witnessAt: '10.0.0.1:80',
    freshness: 2500,
    silenceTimeoutMs: 3000,
    now: 0,
    ...over,
  };
};
