import { describe, expect, it } from 'vitest';
import { MusterError, type NodeRecord } from '#contracts';
import type { TaskRun } from '../conductor/task.js';
import type { Concern } from '../plan/concern.js';
import type { ChangeNode, FailRecord } from '../plan/intent.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aBeacon, aNode } from '../testing/records.js';

/** Wants every node that is discovered to have disappeared. */
const wanted = (o: Partial<ChangeNode> = {}): Concern => ({
  plan: ({ nodes }) =>
    nodes.list
      .filter((e) => e.value.state === 'Discovered')
      .map(({ key }): ChangeNode => ({
        do: 'change-node',
        ...{ key, about: { node: key }, reason: 'as wanted' },
        decide: (now) => (now.state === 'Discovered' ? { ...now, state: 'Disappeared' } : undefined),
        ...o,
      })),
});

const storeOf = (...names: string[]): MemoryStore => {
  const store = new MemoryStore();
  for (const name of names) store.nodes.set(name, aNode(name));
  return store;
};
const states = (store: MemoryStore): NodeRecord['state'][] => Object.values(store.nodes.content).map((n) => n.state);

describe('a plan that is carried out', () => {
  it('is decided again on the record that is replaced', async () => {
    const store = storeOf('n-1');
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) => {
      store.nodes.set(key, aNode('n-1', { state: 'Unknown' }));
      return mutate(key, fn);
    };
    await playRun(planExecutor(store).drive(wanted()));
    expect(states(store)).toEqual(['Unknown']);
  });

  it('is over at once where nothing is to be done', () => {
    const store = new MemoryStore();
    const isolated: TaskRun['isolated'] = async (_about, act) => void (await act());
    const run: TaskRun = { token: 1, now: 0, check: () => 1, isolated, every: () => undefined };
    const sut = planExecutor(store);
    expect(sut.drive(wanted()).reconcile(run)).toBeUndefined();
    expect(sut.drive({ ...wanted(), asks: () => undefined }).reconcile(run)).toBeUndefined();
  });

  it('that has a pace is made as soon as enough is known, and a gap uses none of it up', async () => {
    const store = storeOf('n-1');
    let begun = 0;
    const every: TaskRun['every'] = (_part, _pace, act) => {
      begun += 1;
      return act() as Promise<void>;
    };
    const isolated: TaskRun['isolated'] = async (_about, act) => void (await act());
    const run: TaskRun = { token: 1, now: 0, check: () => 1, isolated, every };
    const isKnown: Concern['isKnown'] = ({ nodes }) => nodes.live;
    const sut = planExecutor(store).drive({ ...wanted(), pace: { everyMs: 60_000 }, isKnown });
    store.nodes.live = false;
    await sut.reconcile(run);
    expect(begun).toBe(0);
    store.nodes.live = true;
    await sut.reconcile(run);
    expect([begun, states(store)]).toEqual([1, ['Disappeared']]);
  });

  it('goes on with the others where one of it fails', async () => {
    const store = storeOf('n-1', 'n-2');
    const failed: object[] = [];
    const decide: ChangeNode['decide'] = (now) => {
      if (now.name === 'n-1') throw new MusterError('TIMEOUT', 'no answer');
      return { ...now, state: 'Disappeared' };
    };
    await playRun(planExecutor(store).drive(wanted({ decide })), { failed: (f) => failed.push(f) });
    expect(states(store)).toEqual(['Discovered', 'Disappeared']);
    expect(failed).toMatchObject([{ node: 'n-1', code: 'TIMEOUT' }]);
  });

  it.each(['conditions', 'inquires'] as const)(
    'goes on with the others where one of %s fails, which fails once in a run',
    async (when) => {
      const store = storeOf('n-1', 'n-2');
      const failed: object[] = [];
      const about = { node: 'n-1' };
      const odd: FailRecord = { do: 'fail-record', about, error: new MusterError('INTERNAL', 'odd'), reason: 'odd' };
      const concern: Concern = {
        ...wanted(),
        ...(when === 'conditions'
          ? { conditions: () => ({ holds: [], failed: [odd, odd] }) }
          : { inquires: () => ({ about: [], marks: [], failed: [odd, odd] }) }),
      };
      await playRun(planExecutor(store).drive(concern), { failed: (f) => failed.push(f) });
      expect(states(store)).toEqual(['Disappeared', 'Disappeared']);
      expect(failed).toMatchObject([{ node: 'n-1', code: 'INTERNAL' }]);
    },
  );

  it('ends where the lease is lost, also within a compare-and-set', async () => {
    const lost = (): never => {
      throw new MusterError('LEASE_LOST', 'another conducts');
    };
    for (const checks of [0, 1]) {
      const store = storeOf('n-1');
      let left = checks;
      const check = (): number => (left-- > 0 ? 1 : lost());
      const isolated: TaskRun['isolated'] = async (_about, act) => void (await act());
      const run: TaskRun = {
        token: 1,
        now: 0,
        check,
        isolated,
        every: async (_part, _pace, act) => void (await act()),
      };
      await expect(planExecutor(store).drive(wanted()).reconcile(run)).rejects.toThrow('another conducts');
      expect(states(store)).toEqual(['Discovered']);
    }
  });

  it('reads anew what its decision rests on', async () => {
    const store = storeOf('n-1');
    const decide: ChangeNode['decide'] = (now, { fleet }) =>
      fleet.incidents.get('n-1') === undefined ? undefined : { ...now, state: 'Disappeared' };
    store.incidents.bucket.get = async () => Promise.resolve({ key: 'n-1', value: { id: 'i' } as never, revision: 9 });
    await playRun(planExecutor(store).drive(wanted({ decide })));
    expect(states(store)).toEqual(['Discovered']);
    await playRun(planExecutor(store).drive(wanted({ decide, reads: { incidents: ['n-1'] } })));
    expect(states(store)).toEqual(['Disappeared']);
  });

  it('is shown by the ages of who acts, and no age begins by showing it', async () => {
    const store = storeOf('n-1');
    const seen: number[] = [];
    const concern: Concern<'there'> = {
      conditions: () => ({ holds: ['there'] }),
      plan: (_fleet, ages) => {
        seen.push(ages.of('there'));
        return [];
      },
    };
    const sut = planExecutor(store);
    const look = (): void => {
      const { fleet, ages } = sut.asOf(concern);
      concern.plan(fleet, ages);
    };
    look();
    store.clock.now = 50;
    look();
    await playRun(sut.drive(concern));
    store.clock.now = 80;
    look();
    await playRun(sut.drive(concern));
    expect(seen).toEqual([0, 0, 0, 30, 30]);
  });

  it('goes by the clock that goes only while a detector is heard that sees the fleet, where it says so', async () => {
    const store = storeOf('n-1');
    const ages: number[] = [];
    const concern = (o: Pick<Concern<'lost'>, 'clock'>): Concern<'lost'> => ({
      ...o,
      conditions: () => ({ holds: ['lost'] }),
      plan: (_fleet, since) => {
        ages.push(since.of('lost'));
        return [];
      },
    });
    const executor = planExecutor(store);
    const both = [concern({}), concern({ clock: 'sighted' })].map((c) => executor.drive(c));
    for (const sighted of [true, true, false, false, true, true]) {
      store.detector.hear(JSON.stringify(aBeacon({ sighted })));
      for (const one of both) await playRun(one);
      store.clock.now += 1_000;
    }
    expect(ages.slice(-2)).toEqual([5_000, 2_000]);
  });

  it('is none where too little is known, and its ages go on', async () => {
    const store = storeOf('n-1');
    const seen: number[] = [];
    const concern: Concern<'there'> = {
      isKnown: ({ nodes }) => nodes.live,
      conditions: () => ({ holds: ['there'] }),
      plan: (_fleet, ages) => {
        seen.push(ages.of('there'));
        return [];
      },
    };
    const reconciler = planExecutor(store).drive(concern);
    for (const [now, live] of [
      [0, true],
      [10, false],
      [20, true],
    ] as const) {
      store.clock.now = now;
      store.nodes.live = live;
      await playRun(reconciler);
    }
    expect(seen).toEqual([0, 20]);
  });
});
