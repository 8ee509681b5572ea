import type { Mutant } from '../mutant.js';

const trips = ['apps/inventory/src/incidents/storm.spec.ts'];
const gates = ['apps/inventory/src/incidents/gates.spec.ts'];

/** Who falls silent with many others is not powered off because the others were healed first. */
export const storm: readonly Mutant[] = [
  {
    name: 'a storm ends as soon as few enough are silent',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'mayOpen',
    operation: { replace: 'l.calmMs(t) >= StormNumbers.opensAfter', with: 'l.calmMs(t) >= 0' },
    specs: trips,
  },
  {
    name: 'a storm ends by itself with more silent than may be',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'mayOpen',
    operation: { replace: '!isOver(restOf(t, l), s)', with: 'restOf(t, l) !== undefined' },
    specs: trips,
  },
  {
    name: 'a storm ends while the detector sees nobody',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'mayOpen',
    operation: { replace: '!l.sees', with: 'l.wallNow < 0' },
    specs: trips,
  },
  {
    name: 'a storm holds nobody: the counts of the moment decide',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'askStorm',
    operation: { replace: 'trip === undefined', with: 'trip !== null' },
    specs: trips,
  },
  {
    name: 'a storm holds nobody, and nobody wrote a history of it',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'askStorm',
    operation: { replace: 'trip === undefined', with: 'trip !== null' },
    sims: ['fleet'],
  },
  {
    name: 'a storm lets go of who has a permit already',
    file: 'libs/domain/src/incident/decide-incident.ts',
    symbol: 'decideIncident',
    operation: { operand: 'held.includes(g.gate)' },
    specs: gates,
  },
  {
    name: 'a second wave is let through by the clock of the first',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'latched',
    operation: { replace: 'isTooMany(again.length)', with: 'again.length < 0' },
    specs: trips,
  },
  {
    name: 'most of a failure domain trips no storm',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'domainDown',
    operation: { replace: '!over && !healing', with: 'trips.length >= 0' },
    specs: trips,
  },
  {
    name: 'who is silent when a blindness ends is dead',
    file: 'libs/domain/src/incident/storm.ts',
    symbol: 'blinded',
    operation: { replace: 'silent.length === 0', with: 'silent.length >= 0' },
    specs: trips,
  },
  {
    name: 'what a detector did not see itself counts as missing reports',
    file: 'apps/inventory/src/verdicts/sight-watch.ts',
    symbol: 'SightWatch.hear',
    operation: { replace: 'this.missing && goesOn', with: 'this.missing' },
    specs: ['apps/inventory/src/verdicts/sight-watch.spec.ts'],
  },
  {
    name: 'a detector that was away is blind by missing reports',
    file: 'apps/detector/src/verdicts/attention.ts',
    symbol: 'Attention.listenAnew',
    operation: { drop: 'this.sawEnough = false' },
    specs: ['apps/detector/src/verdicts/attention.spec.ts'],
  },
  {
    name: 'the brake never forgets who is silent',
    file: 'libs/domain/src/incident/storm-counts.ts',
    symbol: 'candidates',
    operation: { replace: 'x.forMs < StormNumbers.candidateWindow', with: 'x.forMs >= 0' },
    specs: trips,
  },
  {
    name: 'the brake never forgets an incident',
    file: 'libs/domain/src/incident/candidates.ts',
    symbol: 'countsForNewStorm',
    operation: { replace: 'ageMs < StormNumbers.candidateWindow', with: 'ageMs >= 0' },
    specs: ['libs/domain/src/incident/candidates.spec.ts'],
  },
  {
    name: 'the brake forgets a node that may be losing its power',
    file: 'libs/domain/src/incident/candidates.ts',
    symbol: 'countsForNewStorm',
    operation: { operand: 'c.endedAt === undefined' },
    specs: ['libs/domain/src/incident/candidates.spec.ts'],
  },
  {
    name: 'a cordoned member of a storm counts as its rest for ever',
    file: 'libs/domain/src/incident/candidates.ts',
    symbol: 'memberState',
    operation: { operand: '!isMember(node)' },
    specs: ['libs/domain/src/incident/candidates.spec.ts'],
  },
  {
    name: 'after a restart all is new',
    file: 'apps/inventory/src/ages/checkpointed-ages.ts',
    symbol: 'CheckpointedAges.keep',
    operation: { replace: '{ base: said, since: now }', with: '{ base: 0, since: now }' },
    specs: trips,
  },
];
