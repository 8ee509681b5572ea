import { describe, expect, it } from 'vitest';
import { AGES_EVERY_MS, MusterError, PERMITS_KEY, type Permits, type StormTrip } from '#contracts';
import { FencingWorld } from '../../testing/fencing-world.js';
import { playRun } from '../../testing/play-run.js';
import { aBeacon, aNode, anIncident } from '../../testing/records.js';
import { storms } from './storms.js';

const names = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6'];
const up = { verdict: { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 } };

/** Six nodes in two failure domains, seen by a detector that has judged everyone. Two may be unhealthy. */
function world() {
  const w = new FencingWorld();
  const { store } = w;
  const failed: string[] = [];
  let token = 1;
  let seq = 1;
  let silent: readonly string[] = [];
  const sut = w.planExecutor().drive(storms);
  for (const [n, name] of names.entries())
    store.nodes.set(name, aNode(name, { ...up, failureDomain: n < 3 ? 'rack-a' : 'rack-b' }));
  const beat = (ms: number, sighted = true): void => {
    store.clock.now += ms;
    const notUp = Object.fromEntries(silent.map((n) => [n, { verdict: 'DOWN' as const, seq: 1 }]));
    store.detector.hear(
      JSON.stringify(
        aBeacon({
          seq: ++seq,
          members: 6,
          sightedReporters: 5,
          notUp,
          sighted,
          ...(!sighted && { blindBy: 'reports' }),
        }),
      ),
    );
  };
  const round = (): Promise<void> =>
    playRun(sut, {
      ...{ now: store.clock.now, token },
      failed: (f) => failed.push((f as { code: string }).code),
    });
  const wait = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 1_000) {
      beat(Math.min(1_000, left));
      await round();
    }
  };
  beat(0);
  beat(1_000);
  return {
    ...{ w, store, sut, failed, beat, round, wait },
    /** From now on, as the detector says. */
    fall: (...nodes: string[]): void => {
      silent = nodes;
      beat(0);
    },
    /** Another process is the conductor, and knows what the record says. */
    takeOver: (): void => {
      token += 1;
    },
    permits: (): Permits | undefined => store.permits.content[PERMITS_KEY],
    trips: (): readonly StormTrip[] => store.permits.content[PERMITS_KEY]?.trips ?? [],
    /** Comes before the next compare-and-set reads. */
    meanwhile: (act: () => void): void => {
      const { mutate } = store.permits.bucket;
      store.permits.bucket.mutate = async (key, fn) => {
        store.permits.bucket.mutate = mutate;
        act();
        return mutate(key, fn);
      };
    },
  };
}

const aTrip = (o: Partial<StormTrip> = {}): StormTrip => ({ id: 's-1', cause: 'brake', at: 1, members: {}, ...o });

describe('a storm', () => {
  it('begins though no incident asks for a permit, and is over when the rest may be unhealthy and all is calm', async () => {
    const { fall, round, wait, trips } = world();
    await round();
    fall('n-1', 'n-2', 'n-4');
    await round();
    expect(trips()).toMatchObject([{ cause: 'brake', members: { 'n-1': {}, 'n-2': {}, 'n-4': {} } }]);
    fall('n-1');
    await wait(119_000);
    expect(trips()).toMatchObject([{ members: { 'n-1': {}, 'n-2': { returned: true }, 'n-4': { returned: true } } }]);
    await wait(3_000);
    expect(trips()).toEqual([]);
  });

  it('has a name of its own beside those that begin with it', async () => {
    const { fall, round, trips } = world();
    fall(...names);
    await round();
    expect(trips().map((t) => t.domain ?? t.cause)).toEqual(['brake', 'rack-a', 'rack-b']);
    expect(new Set(trips().map((t) => t.id)).size).toBe(3);
  });

  it('begins when a blindness by missing reports ends, were one node silent and nothing else open', async () => {
    const { beat, fall, round, trips } = world();
    beat(1_000, false);
    fall('n-1');
    beat(1_000);
    await round();
    expect(trips()).toMatchObject([{ cause: 'blindness', members: { 'n-1': {} } }]);
  });

  it('neither begins nor ends through a gap, be it one that comes before the write', async () => {
    const { store, fall, round, permits, meanwhile } = world();
    const tables = [store.nodes, store.incidents, store.permits];
    fall('n-1', 'n-2', 'n-4');
    for (const table of tables) {
      table.live = false;
      await round();
      table.live = true;
      meanwhile(() => (table.live = false));
      await round();
      table.live = true;
    }
    expect(permits()).toBeUndefined();
    await round();
    expect(permits()?.trips).toHaveLength(1);
  });

  it('that another has written meanwhile is joined, and a permit of then is kept', async () => {
    const { store, fall, round, permits, meanwhile } = world();
    const granted = [{ incident: 'i-n-6', node: 'n-6', at: 1 }];
    fall('n-1', 'n-2', 'n-4');
    meanwhile(() => store.permits.set(PERMITS_KEY, { granted, trips: [aTrip({ members: { 'n-1': {}, 'n-2': {} } })] }));
    await round();
    expect(permits()).toMatchObject({ granted, trips: [{ id: 's-1', members: { 'n-1': {}, 'n-2': {}, 'n-4': {} } }] });
  });

  it('is written by nobody who has lost the lease since the plan', async () => {
    const { w, fall, sut, permits, meanwhile } = world();
    let isHeld = true;
    const check = (): number => {
      if (!isHeld) throw new MusterError('LEASE_LOST', 'another conducts');
      return w.token;
    };
    fall('n-1', 'n-2', 'n-4');
    meanwhile(() => (isHeld = false));
    await sut.reconcile({ ...w.run(), check });
    expect([permits(), w.failed]).toEqual([undefined, ['{"permits":"permits"} another conducts']]);
  });

  it('does not begin by who was silent in the plan, and was cordoned before its write', async () => {
    const { store, fall, round, permits, meanwhile } = world();
    fall('n-1', 'n-2', 'n-4');
    const cordon = { by: 'ann', reason: 'r', at: 1 };
    meanwhile(() => store.nodes.set('n-2', aNode('n-2', { ...up, failureDomain: 'rack-a', cordon })));
    await round();
    expect(permits()).toBeUndefined();
  });
});

it('a permit of an incident that is over is dropped ten minutes after it was given, and no sooner', async () => {
  const { store, round, wait, permits } = world();
  store.permits.set(PERMITS_KEY, { granted: [{ incident: 'i-n-1', node: 'n-1', at: 1 }] });
  await round();
  await wait(599_000);
  expect(permits()?.granted).toHaveLength(1);
  await wait(2_000);
  expect(permits()?.granted).toEqual([]);
});

describe('how old all is', () => {
  const key = 'incident/i-n-1';
  const open = () => {
    const opened = world();
    opened.store.incidents.set('n-1', anIncident('n-1', { phase: 'suppressed' }));
    return opened;
  };

  it('is written down every ten seconds, by a new conductor no sooner than it can have learned it', async () => {
    const { store, round, wait, permits, takeOver } = open();
    await round();
    await wait(AGES_EVERY_MS - 1_000);
    expect(permits()).toBeUndefined();
    await wait(1_000);
    expect(permits()?.ages).toEqual({ [key]: AGES_EVERY_MS });
    await wait(AGES_EVERY_MS - 1_000);
    expect(permits()?.ages).toEqual({ [key]: AGES_EVERY_MS });
    store.permits.set(PERMITS_KEY, { granted: [], ages: { [key]: 300_000 } });
    takeOver();
    await wait(1_000);
    expect(permits()?.ages).toEqual({ [key]: 300_000 });
    await wait(AGES_EVERY_MS);
    expect(permits()?.ages).toEqual({ [key]: 300_000 + AGES_EVERY_MS + 1_000 });
  });

  it('is written down at the next look where that failed', async () => {
    const { w, store, failed, round, wait, permits } = open();
    await round();
    await wait(AGES_EVERY_MS - 1_000);
    const { mutate } = store.permits.bucket;
    store.permits.bucket.mutate = async () => Promise.reject(new MusterError('BUS_UNAVAILABLE', 'gone'));
    await wait(1_000);
    expect([permits(), failed]).toEqual([undefined, ['BUS_UNAVAILABLE']]);
    store.permits.bucket.mutate = mutate;
    await wait(1_000);
    expect(permits()?.ages).toEqual({ [key]: AGES_EVERY_MS + 1_000 });
    expect(w.failed).toEqual([]);
  });

  it('is not forgotten of an incident that came between the plan and its write', async () => {
    const { store, round, wait, permits, meanwhile } = open();
    await round();
    store.permits.set(PERMITS_KEY, { granted: [], ages: { 'incident/i-n-2': 300_000 } });
    await wait(AGES_EVERY_MS - 1_000);
    meanwhile(() => store.incidents.set('n-2', anIncident('n-2', { phase: 'suppressed' })));
    await wait(1_000);
    expect(permits()?.ages).toEqual({ [key]: AGES_EVERY_MS, 'incident/i-n-2': 300_000 });
  });

  it('is not written down again and again where nothing of it decides any more', async () => {
    const { store, round, wait, permits } = world();
    await round();
    await wait(3 * AGES_EVERY_MS);
    expect(permits()).toBeUndefined();
    const { bucket } = store.permits;
    let asked = 0;
    const { mutate } = bucket;
    bucket.mutate = async (k, fn) => {
      asked += 1;
      return mutate(k, fn);
    };
    await wait(3 * AGES_EVERY_MS);
    expect(asked).toBe(0);
  });
});
