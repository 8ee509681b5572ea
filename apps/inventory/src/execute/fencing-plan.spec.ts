import { describe, expect, it } from 'vitest';
import {
  drilledIdentity,
  MusterError,
  PERMITS_KEY,
  POWER_QUARANTINE_MS,
  READS,
  SETTINGS_KEY,
  type IncidentRecord,
  type NodeRecord,
} from '#contracts';
import type { FreshIdentityService } from '../identity/fresh-identity.service.js';
import { RecheckService } from '../incidents/recheck.service.js';
import { incidents } from '../plan/incidents/incidents.js';
import { FencingWorld } from '../testing/fencing-world.js';
import { odd } from '../testing/odd.js';
import { aBeacon, aDevice, aNode, anIncident, aVerdict, enforced } from '../testing/records.js';
import { roundTrips } from '../testing/round-trips.js';

const names = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'];
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Five nodes that are well, each with a power device of its own. */
function world() {
  const w = new FencingWorld();
  const { store } = w;
  Object.assign(store.clusterSettings, enforced());
  for (const [n, name] of names.entries()) {
    const device = { ...aDevice(), port: 9000 + n };
    store.nodes.set(
      name,
      aNode(name, {
        ...{
          failureDomain: `rack-${n}`,
          powerLevels: [[device]],
          powerIdentity: { bmc: drilledIdentity({}, device, 1) },
        },
        networks: { management: { address: `10.0.0.${n + 1}` }, backend: { address: `10.0.1.${n + 1}` } },
      }),
    );
  }
  let seq = 1;
  const beat = (ms: number): void => {
    store.clock.now += ms;
    const notUp = Object.fromEntries([...w.verdicts].map(([node, v]) => [node, { verdict: v.verdict, seq: v.seq }]));
    seq += 1;
    store.detector.hear(JSON.stringify(aBeacon({ seq, members: 5, sightedReporters: 4, notUp })));
  };
  // For long enough that the detector has judged everyone.
  for (let n = 0; n < 12; n += 1) beat(1_000);
  const sut = w.planExecutor().drive(incidents);
  const round = async (): Promise<void> => {
    await sut.reconcile(w.run());
    await settle();
  };
  /** Known to be dead, and to whom its power device belongs. */
  const die = async (...nodes: string[]): Promise<void> => {
    for (const node of nodes) w.verdicts.set(node, aVerdict(node, { verdict: 'SUSPECT', seq: (seq += 1) }));
    beat(100);
    await round();
    for (const node of nodes) w.verdicts.set(node, aVerdict(node, { seq: (seq += 1) }));
    beat(100);
  };
  const phases = (): Record<string, string> =>
    Object.fromEntries(Object.entries(store.incidents.content).map(([node, i]) => [node, i.phase]));
  return { w, store, beat, round, die, phases };
}

describe('a dead node', () => {
  it('is ordered off in the round that its verdict wakes, eight answers of the bus later', async () => {
    const { w, die, round, phases } = world();
    await die('n-1');
    expect(await roundTrips(w, round)).toBe(8);
    expect(phases()).toEqual({ 'n-1': 'fencing' });
  });

  it('gets no incident before it is known whose its power device is', async () => {
    const { w, beat, round, phases } = world();
    w.verdicts.set('n-1', aVerdict('n-1', { seq: 1_000 }));
    beat(100);
    await round();
    expect(phases()).toEqual({});
    beat(100);
    await round();
    expect(phases()).toEqual({ 'n-1': 'fencing' });
  });

  it('is held up by no other, of which the detector does not answer', async () => {
    const { w, store, die, round, phases } = world();
    await die('n-1', 'n-2');
    const { bus } = store as unknown as { bus: { ask: (subject: string, q: { node: string }) => Promise<unknown> } };
    const { ask } = bus;
    bus.ask = async (subject, q) => (q.node === 'n-1' ? new Promise(() => undefined) : ask(subject, q));
    void round();
    await settle();
    expect(phases()).toEqual({ 'n-2': 'fencing' });
    expect(w.failed).toEqual([]);
  });

  it('is held up by no other, about whose incident a decision throws', async () => {
    const { w, store, die, round, phases } = world();
    store.incidents.set('n-2', odd(anIncident('n-2'), 'cause'));
    await die('n-1', 'n-2');
    await round();
    expect(phases()['n-1']).toBe('fencing');
    // Each of two rounds.
    expect(w.failed).toEqual(Array(2).fill('{"node":"n-2"} cause cannot be understood'));
  });

  it('is held up by no other, whose power devices cannot be asked', async () => {
    const { w, store, die, round, phases } = world();
    const n2 = store.nodes.content['n-2'] as NodeRecord;
    store.nodes.set('n-2', { ...n2, powerLevels: [[odd(aDevice(), 'username')]] });
    await die('n-1', 'n-2');
    await round();
    expect(phases()['n-1']).toBe('fencing');
    expect(new Set(w.failed)).toEqual(new Set(['{"node":"n-2"} username cannot be understood']));
  });

  it.each([
    ['powerLevels', 'n-1'],
    ['networks', 'n-1'],
    ['bootId', 'n-2'],
  ] as const)('is held up by no other, whose %s cannot be looked at beside it', async (field, last) => {
    const { w, store, die, round, phases } = world();
    store.nodes.set('n-2', odd(store.nodes.content['n-2'] as NodeRecord, field));
    await die('n-1', last);
    await round();
    expect(phases()['n-1']).toBe('fencing');
    expect(new Set(w.failed)).toEqual(new Set([`{"node":"n-2"} ${field} cannot be understood`]));
  });

  it('has one permit, and is ordered off in the next round, where its conductor is gone in between', async () => {
    const { w, store, die, round, phases } = world();
    await die('n-1');
    const { mutate } = store.permits.bucket;
    store.permits.bucket.mutate = async (key, fn) => {
      const done = await mutate(key, fn);
      if (done.changed) throw new MusterError('BUS_UNAVAILABLE', 'gone');
      return done;
    };
    await round();
    expect([phases(), w.failed.length]).toEqual([{ 'n-1': 'investigating' }, 1]);
    await round();
    expect(phases()).toEqual({ 'n-1': 'fencing' });
    expect(store.permits.content[PERMITS_KEY]?.granted).toHaveLength(1);
  });

  it('has no permit of a conductor that has lost the lease since the plan', async () => {
    const { w, store, die, round, phases } = world();
    let isHeld = true;
    const run = w.run();
    w.run = () => ({
      ...run,
      check: () => {
        if (!isHeld) throw new MusterError('LEASE_LOST', 'another conducts');
        return w.token;
      },
    });
    await die('n-1');
    const { mutate } = store.permits.bucket;
    store.permits.bucket.mutate = async (key, fn) => {
      isHeld = false;
      return mutate(key, fn);
    };
    await round();
    expect([store.permits.content, phases()]).toEqual([{}, { 'n-1': 'investigating' }]);
  });

  it('is not ordered off where its incident has moved on while its permit was taken', async () => {
    const { store, die, round, phases } = world();
    await die('n-1');
    const { mutate } = store.permits.bucket;
    store.permits.bucket.mutate = async (key, fn) => {
      const done = await mutate(key, fn);
      const i = store.incidents.content['n-1'];
      if (i !== undefined) store.incidents.set('n-1', { ...i, phase: 'cancelled' });
      return done;
    };
    await round();
    expect(phases()).toEqual({ 'n-1': 'cancelled' });
  });

  it('is looked into again when something has changed, or after a while', async () => {
    const { w, store, beat, die, round } = world();
    Object.assign(store.clusterSettings, enforced({ mode: 'observe' }));
    const asked = async (): Promise<number> => {
      w.asked.length = 0;
      await round();
      return w.asked.filter((what) => what.includes('verdict')).length;
    };
    await die('n-1');
    await round();
    expect([await asked(), await asked()]).toEqual([1, 0]);
    beat(499);
    expect(await asked()).toBe(0);
    beat(1);
    expect(await asked()).toBe(1);
    store.nodes.set('n-1', { ...(store.nodes.content['n-1'] as NodeRecord), vars: { a: 'b' } });
    expect([await asked(), await asked()]).toEqual([1, 0]);
  });

  it('is decided on by what was asked a moment ago only', async () => {
    const { store, beat, die, round, phases } = world();
    await die('n-1');
    const { get } = store.reservations.bucket;
    store.reservations.bucket.get = async (key) => {
      for (let n = 0; n < 4; n += 1) beat(1_000);
      store.reservations.bucket.get = get;
      return get(key);
    };
    await round();
    expect(phases()).toEqual({});
    await round();
    expect(phases()).toEqual({ 'n-1': 'fencing' });
  });

  it('that lives after its off is let go once that can take effect no more, by the clock of who has seen it', async () => {
    const { w, store, beat, die, round, phases } = world();
    await die('n-1');
    await round();
    const i = store.incidents.content['n-1'] as IncidentRecord;
    const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1, endedAt: 2 };
    store.incidents.set('n-1', { ...i, commands: [off] });
    w.verdicts.set('n-1', aVerdict('n-1', { verdict: 'UP', seq: 1_000 }));
    for (let ms = 0; ms < POWER_QUARANTINE_MS; ms += 1_000) {
      beat(1_000);
      await round();
      expect(phases()).toEqual({ 'n-1': 'fencing' });
    }
    beat(1_000);
    await round();
    expect(phases()).toEqual({ 'n-1': 'survived' });
  });
});

describe('the recheck before its power-off', () => {
  /** n-1 is ordered off, and nothing was sent yet. */
  const ordered = async () => {
    const made = world();
    await made.die('n-1');
    await made.round();
    const { w, store } = made;
    store.settings.set(SETTINGS_KEY, store.clusterSettings);
    Object.assign(store, { tokens: { keep: async () => Promise.resolve() } });
    const identity = { of: async () => Promise.resolve(undefined) } as unknown as FreshIdentityService;
    const sut = new RecheckService(store.asStore, w.incidents, w.verdictNow, w.facts, identity);
    const incident = (): IncidentRecord => store.incidents.content['n-1'] as IncidentRecord;
    const ask = (): ReturnType<RecheckService['recheck']> =>
      sut.recheck({ node: 'n-1', incident: incident().id, epoch: 1, reads: READS.powerRecords });
    return { ...made, incident, ask };
  };

  it('lets nobody go through a gap in what shows the storms, and writes nothing for it', async () => {
    const { w, ask, incident } = await ordered();
    expect(await ask()).toMatchObject({ go: true });
    for (const table of [w.store.permits, w.store.incidents, w.store.nodes]) {
      table.live = false;
      expect(await ask()).toMatchObject({ go: false, reason: expect.stringContaining('has a gap') as string });
      table.live = true;
    }
    expect([incident().phase, (await ask()).go]).toEqual(['fencing', true]);
  });

  it('lets one go on through such a gap that was sent an off already', async () => {
    const { w, ask, incident } = await ordered();
    const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1, endedAt: 1 };
    w.store.incidents.set('n-1', { ...incident(), commands: [off] });
    w.store.permits.live = false;
    expect(await ask()).toMatchObject({ go: true });
  });

  it('ends no incident that somebody has written since it was read', async () => {
    const { w, ask, incident } = await ordered();
    w.verdicts.set('n-1', aVerdict('n-1', { verdict: 'UP', seq: 999 }));
    const { mutate } = w.store.incidents.bucket;
    w.store.incidents.bucket.mutate = async (key, fn) => {
      w.store.incidents.set('n-1', { ...incident(), cause: 'manual' });
      return mutate(key, fn);
    };
    expect(await ask()).toMatchObject({ go: false });
    expect(incident()).toMatchObject({ phase: 'fencing', cause: 'manual' });
    w.store.incidents.bucket.mutate = mutate;
    w.store.incidents.set('n-1', { ...incident(), cause: 'auto' });
    expect(await ask()).toMatchObject({ go: false });
    expect(incident().phase).toBe('cancelled');
  });
});
