import type { Mutant } from '../../mutant.js';

/** What an agent says of its links is what it has seen of them. */
export const links: readonly Mutant[] = [
  {
    name: 'a failed send keeps the link heard',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.stayed',
    operation: { row: 'rttUs: -1' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'a failed send keeps the misses from before',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.stayed',
    operation: { row: 'misses: 0' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'one failed send among lost probes keeps the link heard',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.stayed',
    operation: { drop: 'forgetEcho(link, this.n)' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'an echo is believed by its sender, not by its nonce',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.echo',
    operation: {
      replace: 'const at = this.byNonce.get(nonce)',
      with: 'nonce = this.links.get(peer)?.get(network)?.pending?.nonce ?? nonce; const at = this.byNonce.get(nonce)',
    },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'an echo is believed on another network',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.echo',
    operation: {
      replace: 'if (at?.peer !== peer || at.network !== network) return false',
      with: 'if (at?.peer !== peer) return false; network = at.network',
    },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'a late echo is believed',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.judge',
    operation: [{ drop: 'this.byNonce.delete(link.pending.nonce)' }, { drop: 'delete link.pending' }],
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'a probe that did not leave is a miss',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.unsent',
    operation: { drop: 'delete link.pending' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'what was outstanding over a standstill is a miss',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.stoodStill',
    operation: { drop: 'delete link.pending' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'misses before a long standstill count on',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.stoodStill',
    operation: { replace: 'gapMs > this.n.interval * this.n.misses', with: 'gapMs < 0' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'an agent that stood still does not abstain',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.abstains',
    operation: {
      replace: 'this.stoodStillAt + this.n.interval * (1 + DUE_SHARE)',
      with: '-this.stoodStillAt - this.n.interval * (1 + DUE_SHARE)',
    },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'misses at a shorter interval count at a longer one',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.tune',
    operation: { set: 'share', to: '1' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'the loop wakes up for each probe, missed or not',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.nextMissDue',
    operation: { operand: 'misses > 0' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'misses that are scaled down are rounded up',
    file: 'apps/agent/src/links/link-observation.ts',
    symbol: 'LinkObservations.tune',
    operation: { replace: 'Math.floor(link.misses * share)', with: 'Math.ceil(link.misses * share)' },
    specs: ['apps/agent/src/links/link-observation.spec.ts'],
  },
  {
    name: 'the longest interval of all counts, not that since the last probe',
    file: 'apps/agent/src/links/probe-schedule.ts',
    symbol: 'ProbeSchedule.due',
    operation: { drop: 'slot.longest = this.interval' },
    specs: ['apps/agent/src/links/probe-schedule.spec.ts'],
  },
  {
    name: 'a link is probed at a shorter interval as soon as its last probe is judged',
    file: 'apps/agent/src/links/probe-schedule.ts',
    symbol: 'ProbeSchedule.set',
    operation: { replace: 'lastAt + slot.longest', with: '-Infinity' },
    specs: ['apps/agent/src/links/probe-schedule.spec.ts'],
  },
];
