import type { Mutant } from '../../mutant.js';

const of = (room: string): ((file: string) => { file: string; specs: string[] }) => {
  return (file) => ({ file: `${room}/${file}.ts`, specs: [`${room}/${file}.spec.ts`] });
};
const detector = of('apps/detector/src/life');
const agent = of('apps/agent/src/life')('peer-life-probes');
const wire = of('libs/contracts/src/wire')('life-question');

/** A node's word on a host that is silent is what it could see, of this host, now; and it looks at nobody else. */
export const lifeObservers: readonly Mutant[] = [
  {
    name: 'what was found at another address is a word of this host',
    ...detector('fold-observations'),
    symbol: 'foldObservations',
    operation: { operand: 'signs.address !== address' },
  },
  {
    name: 'who hears nobody else finds the host silent',
    ...detector('fold-observations'),
    symbol: 'foldObservations',
    operation: { replace: 'hearsOthers ? signs : withoutSilence(signs)', with: 'signs' },
  },
  {
    name: 'a host is silent that was not tried over one of its networks',
    ...detector('fold-observations'),
    symbol: 'ssh',
    operation: { set: 'ssh', to: "['banner', 'accepted', 'refused', 'silent', 'not-tried']" },
  },
  {
    name: 'a look of the suspicion before counts in this one',
    ...detector('asked-observations'),
    symbol: 'AskedObservations.ask',
    operation: { drop: 'if (asked.endedAt !== undefined) return;' },
  },
  {
    name: 'a look is silence for ever',
    ...detector('asked-observations'),
    symbol: 'OBSERVATION_FRESH',
    operation: { set: 'OBSERVATION_FRESH', to: '1e9' },
  },
  {
    name: 'what spoke at another place counts of this one',
    ...detector('life-observers'),
    symbol: 'LifeObservers.spokeTo',
    operation: { replace: 'stored?.place === placeOf(this.p.fleet, target)', with: 'stored' },
  },
  {
    name: 'who was cut off before it answered has proven something',
    ...detector('life-observers'),
    symbol: 'LifeObservers.placesOf',
    operation: { operand: 'this.hearsOthers(heard, name, i)' },
  },
  {
    name: 'one node is as good as the monitor',
    ...detector('life-observers'),
    symbol: 'ENOUGH',
    operation: { set: 'ENOUGH', to: '1' },
  },
  {
    name: 'others are asked before those to whom the host spoke',
    ...detector('choose-observers'),
    symbol: 'chooseObservers',
    operation: { replace: '[true, false]', with: '[false, true]' },
  },
  {
    name: 'who could not look takes back what a host has shown',
    file: 'apps/detector/src/life/life-baseline.ts',
    specs: ['apps/detector/src/life/life-baseline.spec.ts'],
    symbol: 'LifeBaseline.channelsOf',
    operation: {
      replace: 'tries > 0 ? { channels: [...found].sort(), whole: isWhole() } : undefined',
      with: '{ channels: [...found].sort(), whole: true }',
    },
  },
  {
    name: 'a look that ended after one try takes back what a host has shown',
    file: 'apps/detector/src/life/life-baseline.ts',
    specs: ['apps/detector/src/life/life-baseline.spec.ts'],
    symbol: 'LifeBaseline.probe',
    operation: { replace: 'found === undefined || (isLess && !whole)', with: 'found === undefined' },
  },
  {
    name: 'an agent looks at whoever is named',
    ...agent,
    symbol: 'PeerLifeProbes.unable',
    operation: { drop: "return 'not-a-peer';" },
  },
  {
    name: 'an agent tries one port of a peer after the other',
    ...agent,
    symbol: 'PeerLifeProbes.unable',
    operation: { replace: "same.sshPort === sshPort ? undefined : 'busy'", with: 'undefined' },
  },
  {
    name: 'an agent looks as often as it is asked',
    ...agent,
    symbol: 'MOST_A_SECOND',
    operation: { set: 'MOST_A_SECOND', to: '1e9' },
  },
  {
    name: 'an agent that stood still has found silence',
    ...agent,
    symbol: 'PeerLifeProbes.begin',
    operation: { replace: 'probe.void ? unheard(found) : found', with: 'found' },
  },
  {
    name: 'an answer to an earlier question is read',
    ...wire,
    symbol: 'readLifeAnswer',
    operation: { operand: 'nonce !== q.nonce' },
  },
  {
    name: 'an answer of another node is read',
    ...wire,
    symbol: 'readLifeAnswer',
    operation: { operand: 'node !== by' },
  },
];
