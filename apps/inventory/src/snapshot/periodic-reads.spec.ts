import { expect, it } from 'vitest';
import { identityBasis, MusterError, type RpcAnswer } from '#contracts';
import type { IdentityReads } from '../identity/identity-reads.js';
import { MemoryStore } from '../testing/memory-store.js';
import { fleetSource } from '../testing/planned.js';
import { aDevice, aNode } from '../testing/records.js';
import { PeriodicReads } from './periodic-reads.js';

type Devices = RpcAnswer<'fencer.power.identify'>['devices'];

/** Two nodes, and reads that end when the spec says. */
function world() {
  const store = new MemoryStore();
  const nodes = ['n-1', 'n-2'].map((name) => aNode(name));
  for (const node of nodes) store.nodes.set(node.name, node);
  const ends: ((said: Devices | undefined) => Promise<void>)[] = [];
  const read = async (): Promise<Devices> =>
    new Promise((resolve, reject) =>
      ends.push(async (said) => {
        if (said === undefined) reject(new MusterError('TIMEOUT', 'no answer'));
        else resolve(said);
        await new Promise((settled) => setImmediate(settled));
      }),
    );
  const sut = new PeriodicReads(store.asStore, { read } as unknown as IdentityReads);
  const source = fleetSource(store, { periodicReads: sut });
  const begin = (n: number, about: string, marks = false): void => {
    const node = nodes[n];
    if (node !== undefined) sut.begin({ node, about, marks });
  };
  return { store, sut, begin, end: async (n: number, said?: Devices) => ends[n]?.(said), fleet: () => source.now() };
}

const said = { id: 'bmc', basis: identityBasis(aDevice()) };

it('a read is a fact of each fleet from when it is begun, with what was asked for and how long ago', async () => {
  const { store, begin, end, fleet } = world();
  expect([fleet().periodicReads.of('n-1'), fleet().periodicReads.underWay()]).toEqual([undefined, 0]);
  begin(0, 'as it is');
  store.clock.now = 400;
  expect(fleet().periodicReads.of('n-1')).toEqual({
    ...{ id: 1, about: 'as it is', begunAgo: 400, failedAgo: undefined, isUnread: false },
  });
  expect(fleet().periodicReads.underWay()).toBe(1);
  await end(0, [{ ...said, seen: {} }]);
  expect(fleet().periodicReads.of('n-1')).toMatchObject({ begunAgo: 400, failedAgo: undefined });
  expect(fleet().periodicReads.underWay()).toBe(0);
});

it('a read that nobody answers has failed since then, and leaves open what was not said before', async () => {
  const { store, begin, end, fleet } = world();
  begin(0, 'as it is', true);
  store.clock.now = 14_000;
  await end(0);
  store.clock.now = 15_000;
  expect(fleet().periodicReads.of('n-1')).toMatchObject({ begunAgo: 15_000, failedAgo: 1_000, isUnread: true });
});

it('what was asked for last is told of a node, and not what another read of it brings later', async () => {
  const { begin, end, fleet } = world();
  begin(0, 'before an edit');
  begin(0, 'after it');
  await end(0);
  expect(fleet().periodicReads.of('n-1')).toMatchObject({ id: 2, about: 'after it', failedAgo: undefined });
});

it('a node that is gone is forgotten with the next read of another, and its share is drawn anew', () => {
  const { store, sut, begin, fleet } = world();
  const draws = [0.1, 0.2, 0.3];
  store.random.number = () => draws.shift() ?? 1;
  expect([sut.shareOf('n-1'), sut.shareOf('n-2'), sut.shareOf('n-1')]).toEqual([0.1, 0.2, 0.1]);
  begin(0, 'as it is');
  store.nodes.set('n-1', undefined);
  begin(1, 'as it is');
  expect([fleet().periodicReads.of('n-1'), sut.shareOf('n-1'), sut.shareOf('n-2')]).toEqual([undefined, 0.3, 0.2]);
});
