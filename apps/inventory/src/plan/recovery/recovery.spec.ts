import { describe, expect, it } from 'vitest';
import {
  devicesMark,
  drilledIdentity,
  identityBasis,
  MusterError,
  provenIdentity,
  withIdentity,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type WorkloadRecord,
} from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { playServer } from '../../testing/play-server.js';
import { applyVerdict } from '../../node-state/verdict-application.js';
import { aDevice, aNode, anIncident, aReport, aVerdict, aWorkload } from '../../testing/records.js';
import { recovery } from './recovery.js';

const TOKEN = 9;

const proof = { kind: 'read-back' as const, at: 1, level: 0 };
const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1, endedAt: 1 };
const fenced = (o: Partial<IncidentRecord> = {}): IncidentRecord =>
  anIncident('n-1', { phase: 'fenced', conductor: 8, proof, commands: [off], ...o });
const provenNode = (n: NodeRecord): NodeRecord => withIdentity(n, 'bmc', drilledIdentity(n, aDevice(), 1));
const foreign = (n: NodeRecord): NodeRecord =>
  withIdentity(n, 'bmc', { result: 'mismatch', at: 2, basis: identityBasis(aDevice()) });
const on = (node: string, o: Partial<WorkloadRecord> = {}): Partial<WorkloadRecord> => ({
  assignment: { node, generation: 2 },
  generation: 2,
  ...o,
});

/** n-1 with its work, whose power is proven off by a device of its own; n-2 serves. */
function world(o: { incident?: IncidentRecord; isProven?: boolean } = {}) {
  const store = new MemoryStore();
  store.detector.sees = true;
  const { incident = fenced(), isProven = true } = o;
  // The node's record is written first.
  const marks = incident.phase === 'recovering' ? { confirmedOff: { at: 1, incident: incident.id } } : {};
  store.nodes.set('n-1', isProven ? provenNode(aNode('n-1', marks)) : aNode('n-1', marks));
  store.nodes.set('n-2', aNode('n-2'));
  store.workloads.set('db', aWorkload('db', on('n-1', { priority: 1 })));
  store.workloads.set('web', aWorkload('web', on('n-1')));
  let sut = planExecutor(store).drive(recovery);
  store.incidents.set('n-1', incident);
  const failed: object[] = [];
  /** @param heard who is heard right before */
  const look = async (at = store.clock.now, ...heard: string[]): Promise<void> => {
    store.clock.now = at;
    for (const name of heard) store.reports.hear(aReport(name, { seq: at + 1, workloads: [] }), at);
    await playRun(sut, { now: at, token: TOKEN, failed: (f) => failed.push(f) });
  };
  return {
    ...{ store, look, failed },
    /** Another process conducts from now on. It has heard the same reports. */
    takeOver: (): void => {
      sut = planExecutor(store).drive(recovery);
    },
    incident: (): IncidentRecord => store.incidents.content['n-1'] as IncidentRecord,
    node: (): NodeRecord => store.nodes.content['n-1'] as NodeRecord,
    /** Where each workload is assigned. */
    places: () => Object.values(store.workloads.content).map((w) => w.assignment?.node),
    alarms: () => Object.values(store.alarms.content).flatMap((a) => (a.cleared === undefined ? [a.code] : [])),
    said: () => (store.incidents.content['n-1']?.steps ?? []).map((s) => s.detail),
  };
}

const lost = async (): Promise<never> => Promise.reject(new MusterError('TIMEOUT', 'no answer'));

describe('the work of a node whose power is proven off', () => {
  it('is taken from it in the look that sees the proof, in five round trips', async () => {
    const { store, look, places, incident } = world();
    const server = playServer(store);
    const looked = look();
    const untaken = await server.until(() => places().every((node) => node === undefined));
    expect(untaken.trips).toEqual([
      ['nodes n-1'],
      ['workloads'],
      ['incidents n-1'],
      // Each is taken only while that says that it is off.
      ['nodes n-1', 'nodes n-1'],
      ['workloads db', 'workloads web'],
    ]);
    await server.answer(looked);
    expect(incident()).toMatchObject({
      ...{ phase: 'recovering', conductor: TOKEN },
      recovery: [{ workload: 'db' }, { workload: 'web' }],
    });
  });

  it('is taken although its machine spoke in another boot right before its off, as a verdict tells late', async () => {
    const { store, look, node, incident, places } = world({ incident: anIncident('n-1', { phase: 'fencing' }) });
    store.clock.now = 1_000;
    store.reports.hear(aReport('n-1', { bootId: 'b2', workloads: [] }), 1_000);
    store.clock.now = 1_500;
    store.incidents.set('n-1', fenced({ bootId: 'b1' }));
    await look();
    expect([places(), incident()]).toMatchObject([[undefined, undefined], { phase: 'recovering', bootId: 'b2' }]);
    const late = aVerdict('n-1', { verdict: 'SUSPECT', seq: 9, bootId: 'b2', poweredOn: true });
    const facts = { degradedForMs: undefined, holdDown: 0, at: 5 };
    expect(applyVerdict(node(), late, facts)?.confirmedOff).toEqual(node().confirmedOff);
    expect(applyVerdict(node(), { ...late, bootId: 'b3' }, facts)?.confirmedOff).toBeUndefined();
  });

  it('is taken once the incident is seen that tells of it', async () => {
    const { store, look, incident } = world();
    const taken: [string, boolean][] = [];
    let isShown = false;
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      taken.push([key, isShown]);
      return mutate(key, fn);
    };
    store.incidents.shows = async () => {
      isShown = incident().phase === 'recovering';
      return Promise.resolve(isShown);
    };
    await look();
    expect(taken).toEqual([
      ['db', true],
      ['web', true],
    ]);
  });

  it('is all that was assigned there before the node was marked, whatever a view shows', async () => {
    const { store, look, node, places } = world();
    const { list } = store.workloads.bucket;
    store.workloads.bucket.list = async () => {
      expect(node()).toMatchObject({ confirmedOff: { incident: 'i-n-1' }, maintenance: { incident: 'i-n-1' } });
      store.workloads.set('late', aWorkload('late', on('n-1')));
      return list();
    };
    await look();
    expect(places()).toEqual([undefined, undefined, undefined]);
  });

  it('is taken by the next look where the one before it got no further than the node', async () => {
    const { store, look, node, incident, places, failed } = world();
    const { mutate } = store.incidents.bucket;
    store.incidents.bucket.mutate = lost;
    await look();
    expect(node().confirmedOff).toBeDefined();
    expect([incident().phase, places(), failed]).toMatchObject(['fenced', ['n-1', 'n-1'], [{ code: 'TIMEOUT' }]]);
    store.incidents.bucket.mutate = mutate;
    await look(1_000);
    expect([incident().phase, places()]).toEqual(['recovering', [undefined, undefined]]);
  });

  it('is taken by the next look where one of it could not be written', async () => {
    const { store, look, places, incident } = world();
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => (key === 'db' ? lost() : mutate(key, fn));
    await look();
    expect([incident().phase, places()]).toEqual(['recovering', ['n-1', undefined]]);
    store.workloads.bucket.mutate = mutate;
    await look(1_000);
    expect(places()).toEqual([undefined, undefined]);
  });

  describe('which has booted anew by itself', () => {
    const ofFirst = fenced({ bootId: 'b1' });
    /** As its verdict leaves it, in the boot after the one that was ended. */
    const booted = (n: NodeRecord): NodeRecord => {
      const { verdict, networks } = { verdict: 'UP' as const, networks: [] };
      const { confirmedOff: _off, ...rest } = n;
      return {
        ...rest,
        bootId: 'b2',
        verdict: { verdict, networks, epoch: 1, seq: 9, at: 2, bootId: 'b2', reason: '' },
      };
    };
    /** The proof is seen at 1,000 ms. */
    const seenProven = () => {
      const made = world({ incident: anIncident('n-1', { phase: 'fencing' }) });
      made.store.clock.now = 1_000;
      made.store.incidents.set('n-1', ofFirst);
      return made;
    };
    const speaksAnew = (store: MemoryStore, at: number): void =>
      store.reports.hear(aReport('n-1', { bootId: 'b2', workloads: [] }), at);
    const kept = [
      { workload: 'db', to: 'n-1', state: 'running' },
      { workload: 'web', to: 'n-1', state: 'running' },
    ];

    it('is left to it, and the incident is over that far', async () => {
      const { store, look, node, incident, places } = world({ incident: ofFirst });
      store.nodes.set('n-1', booted(node()));
      await look();
      expect([places(), incident().phase]).toEqual([['n-1', 'n-1'], 'recovering']);
      expect(node()).toMatchObject({ maintenance: { incident: 'i-n-1' }, pendingReturn: { reason: 'rebooted' } });
      await look(1_000);
      expect(incident()).toMatchObject({ phase: 'recovered', recovery: kept });
      await look(2_000);
      expect(places()).toEqual(['n-1', 'n-1']);
    });

    it('is left to it where that is heard after the node was marked', async () => {
      const { store, look, node, incident, places } = world({ incident: ofFirst });
      store.incidents.shows = async () => {
        expect(node().confirmedOff).toBeDefined();
        store.nodes.set('n-1', booted(node()));
        return Promise.resolve(true);
      };
      await look();
      expect([places(), incident().phase]).toEqual([['n-1', 'n-1'], 'recovering']);
      await look(1_000);
      expect(incident()).toMatchObject({ phase: 'recovered', recovery: kept });
    });

    it('is left to it where the look that marked the node got no further, and that is heard then', async () => {
      const { store, look, node, incident, places, failed } = world({ incident: ofFirst });
      const { mutate } = store.incidents.bucket;
      store.incidents.bucket.mutate = lost;
      await look();
      expect([incident().phase, failed.length, node().confirmedOff !== undefined]).toEqual(['fenced', 1, true]);
      store.incidents.bucket.mutate = mutate;
      store.nodes.set('n-1', booted(node()));
      await look(1_000);
      await look(2_000);
      expect([places(), incident()]).toMatchObject([['n-1', 'n-1'], { phase: 'recovered', recovery: kept }]);
    });

    it('is left to it where only its own report says so yet, and is taken where no verdict follows', async () => {
      const { store, look, incident, places } = world({ incident: ofFirst });
      await look(0, 'n-2');
      expect(places()).toEqual([undefined, undefined]);
      for (const w of ['late', 'later']) store.workloads.set(w, aWorkload(w, on('n-1')));
      const { mutate } = store.workloads.bucket;
      store.workloads.bucket.mutate = async (key, fn) => {
        // Between the look and the write.
        if (key === 'late') speaksAnew(store, store.clock.now);
        return mutate(key, fn);
      };
      await look(1_000, 'n-2');
      store.workloads.bucket.mutate = mutate;
      speaksAnew(store, 1_000);
      const left = (): (string | undefined)[] => places().slice(2);
      await look(1_500, 'n-2');
      expect(left()).toContain('n-1');
      await look(3_999, 'n-2');
      expect(left()).toContain('n-1');
      await look(4_001, 'n-2');
      expect([left(), incident().phase]).toEqual([[undefined, undefined], 'recovering']);
    });

    it('is begun to be taken by nobody while a new boot has just spoken', async () => {
      const { store, look, incident, node, places } = seenProven();
      store.clock.now = 1_100;
      speaksAnew(store, 1_100);
      await look(1_200, 'n-2');
      expect([places(), incident().phase, node().confirmedOff]).toEqual([['n-1', 'n-1'], 'fenced', undefined]);
      await look(4_200, 'n-2');
      expect([places(), incident().phase]).toEqual([[undefined, undefined], 'recovering']);
    });

    it('nor where that speaks between the look and the write', async () => {
      const { store, look, incident, node, places } = seenProven();
      const { mutate } = store.nodes.bucket;
      store.nodes.bucket.mutate = async (key, fn) => {
        speaksAnew(store, store.clock.now);
        return mutate(key, fn);
      };
      await look(1_200, 'n-2');
      expect([places(), incident().phase, node().confirmedOff]).toEqual([['n-1', 'n-1'], 'fenced', undefined]);
    });

    it('is left to it where it has fallen silent again since: the next incident is about that boot', async () => {
      const { store, look, node, incident, places } = world({ incident: ofFirst, isProven: false });
      await look(0, 'n-2');
      speaksAnew(store, 2_000);
      const again = booted(node());
      store.nodes.set('n-1', { ...again, state: 'Disappeared', verdict: { ...again.verdict!, verdict: 'DOWN' } });
      await look(6_000, 'n-2');
      expect([places(), incident()]).toMatchObject([['n-1', 'n-1'], { phase: 'recovering', bootId: 'b1' }]);
      expect([node().confirmedOff, node().bootId]).toEqual([undefined, 'b2']);
      await look(7_000, 'n-2');
      expect([places(), incident().phase]).toEqual([['n-1', 'n-1'], 'recovered']);
    });
  });

  it('is left there where an edit of its devices came after the proof, before the look or within it', async () => {
    const ordered = fenced({ devices: devicesMark([[aDevice()]]) });
    const elsewhere = { ...aDevice(), address: '10.0.9.9' };
    const edited = (n: NodeRecord): NodeRecord =>
      withIdentity({ ...n, powerLevels: [[elsewhere]] }, 'bmc', drilledIdentity(n, elsewhere, 1));
    for (const within of [false, true]) {
      const { store, look, places, incident, node } = world({ incident: ordered });
      const { mutate } = store.nodes.bucket;
      const edit = (): void => void store.nodes.set('n-1', edited(node()));
      if (!within) edit();
      else
        store.nodes.bucket.mutate = async (key, fn) => {
          edit();
          return mutate(key, fn);
        };
      await look();
      expect([places(), node().confirmedOff]).toEqual([['n-1', 'n-1'], undefined]);
      await look(1_000);
      expect([places(), incident()]).toMatchObject([['n-1', 'n-1'], { phase: 'failed' }]);
      expect(incident().proof).toBeUndefined();
    }
  });

  it('is left there where the incident is not fenced any more, or a later conductor has decided', async () => {
    for (const o of [{ phase: 'failed' }, { conductor: TOKEN + 1 }] as const) {
      const { store, look, places, incident, failed } = world();
      const { mutate } = store.incidents.bucket;
      store.incidents.bucket.mutate = async (key, fn) => {
        store.incidents.set('n-1', fenced(o));
        return mutate(key, fn);
      };
      await look();
      expect([incident(), places(), failed]).toMatchObject([o, ['n-1', 'n-1'], []]);
    }
  });

  it('is left there where its proof is in doubt, or another one, by the time that the incident is written', async () => {
    const doubt = { at: 2, device: 'bmc' };
    for (const written of [
      { ...proof, doubt },
      { ...proof, at: 2 },
    ]) {
      const { store, look, places, incident } = world();
      const { mutate } = store.incidents.bucket;
      store.incidents.bucket.mutate = async (key, fn) => {
        store.incidents.set('n-1', fenced({ proof: written }));
        return mutate(key, fn);
      };
      await look();
      expect([places(), incident().phase]).toEqual([['n-1', 'n-1'], 'fenced']);
    }
  });

  it('is left there where its device was found to be another machine’s since', async () => {
    const { store, look, places, incident, node } = world({ isProven: false });
    await look(0, 'n-2');
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) => {
      store.nodes.set('n-1', foreign(node()));
      return mutate(key, fn);
    };
    await look(4_000, 'n-2');
    expect([places(), incident().phase]).toEqual([['n-1', 'n-1'], 'fenced']);
    expect(node().confirmedOff).toBeUndefined();
  });

  it('is taken from a node that was deleted meanwhile', async () => {
    const { store, look, incident, places } = world();
    store.nodes.set('n-1', undefined);
    await look();
    expect([incident().phase, places()]).toEqual(['recovering', [undefined, undefined]]);
  });

  it('has its job called back that was on its way to the node, and no other', async () => {
    const { store, look } = world();
    const job = (id: string, o: Partial<JobRecord> = {}): JobRecord => ({ id, status: 'Queued', ...o }) as JobRecord;
    store.jobs.set('starts', job('starts'));
    store.jobs.set('ended', job('ended', { status: 'Complete' }));
    store.jobs.set('other', job('other'));
    store.workloads.set('db', aWorkload('db', on('n-1', { start: { cause: 'c', attempt: 0, job: 'starts' } })));
    store.workloads.set('web', aWorkload('web', on('n-1', { start: { cause: 'c', attempt: 0, job: 'ended' } })));
    store.workloads.set('mq', aWorkload('mq', on('n-2', { start: { cause: 'c', attempt: 0, job: 'other' } })));
    await look();
    const cancelled = Object.values(store.jobs.content).filter((j) => j.cancel !== undefined);
    expect(cancelled).toMatchObject([{ id: 'starts', cancel: { by: 'muster' } }]);
  });
});

describe('a recovery that goes on', () => {
  const line = (workload: string) => ({ workload, from: 'n-1', state: 'waiting' as const });
  const recovering = fenced({ phase: 'recovering', recovery: [line('db'), line('web')] });
  const runsOn = (store: MemoryStore, node: string, ...names: string[]): void => {
    for (const name of names) store.workloads.set(name, aWorkload(name, on(node, { generation: 5 })));
  };

  it('is recovered once all of it runs, and wants the power on', async () => {
    const { store, look, incident } = world({ incident: recovering });
    store.clusterSettings.fencing.mode = 'enforce';
    runsOn(store, 'n-2', 'db');
    await look();
    expect([incident().phase, incident().recovery.map((r) => r.state)]).toEqual(['recovering', ['running', 'waiting']]);
    runsOn(store, 'n-2', 'web');
    await look(1_000);
    expect(incident()).toMatchObject({ phase: 'recovered', powerOn: { wanted: true } });
  });

  it('is not recovered while the view of the workloads has a gap', async () => {
    const { store, look, incident } = world({ incident: recovering });
    runsOn(store, 'n-2', 'db', 'web');
    store.workloads.live = false;
    await look();
    expect(incident().phase).toBe('recovering');
    store.workloads.live = true;
    await look(1_000);
    expect(incident().phase).toBe('recovered');
  });

  it('counts the powering on by the record of the node as it is', async () => {
    const { store, look, incident } = world({ incident: recovering });
    store.clusterSettings.fencing.mode = 'enforce';
    runsOn(store, 'n-2', 'db', 'web');
    const { get } = store.nodes.bucket;
    store.nodes.bucket.get = async (key) => {
      const found = await get(key);
      return found && { ...found, value: { ...found.value, poweredOnAt: [store.clock.wallMs() - 1] } };
    };
    await look();
    expect(incident().powerOn?.wanted).toBe(false);
  });

  it('takes what was assigned there since', async () => {
    const { store, look, incident, places } = world({ incident: recovering });
    runsOn(store, 'n-2', 'db', 'web');
    store.workloads.set('late', aWorkload('late', on('n-1')));
    await look();
    expect(places()).toEqual(['n-2', undefined, 'n-2']);
    await look(1_000);
    expect(incident().phase).toBe('recovering');
    expect(incident().recovery).toContainEqual(line('late'));
  });

  it('leaves to a node that has come back what is assigned to it, and is over once that runs', async () => {
    const { store, look, incident, places } = world({ incident: recovering });
    runsOn(store, 'n-2', 'db');
    store.nodes.set('n-1', aNode('n-1'));
    await look();
    expect([places(), incident().phase]).toEqual([['n-2', 'n-1'], 'recovered']);
    expect(incident().recovery.map((r) => [r.to, r.state])).toEqual([
      ['n-2', 'running'],
      ['n-1', 'running'],
    ]);
  });

  it.each<[string, Partial<WorkloadRecord>]>([
    ['after a reboot', { start: { cause: 'reboot:b', attempt: 0 } }],
    ['after a start that has failed', { start: { cause: 'incident:i', attempt: 1 }, held: 'h' }],
    ['by a job', { start: { cause: 'put', attempt: 0, job: 'j' } }],
  ])('waits for nothing that is owed to a node that has come back, whose check waits for it: %s', async (_by, owed) => {
    const { store, look, incident, places } = world({ incident: recovering });
    runsOn(store, 'n-2', 'db');
    store.workloads.set('web', aWorkload('web', on('n-1', owed)));
    store.nodes.set('n-1', aNode('n-1'));
    await look();
    expect([places(), incident().phase]).toEqual([['n-2', 'n-1'], 'recovered']);
    expect(incident().recovery.map((r) => r.state)).toEqual(['running', 'held']);
  });

  it('is not about what is assigned to a node that has come back', async () => {
    const { store, look, incident } = world({ incident: recovering });
    runsOn(store, 'n-2', 'db');
    store.workloads.set('late', aWorkload('late', on('n-1')));
    store.nodes.set('n-1', aNode('n-1'));
    await look();
    expect(incident().recovery.map((r) => r.workload)).toEqual(['db', 'web']);
  });

  it('takes nothing from a node that has come back by a view of before', async () => {
    const { store, look, places } = world({ incident: recovering });
    const { get } = store.nodes.bucket;
    store.nodes.bucket.get = async (key) => {
      const found = await get(key);
      return found && { ...found, value: aNode('n-1') };
    };
    await look();
    expect(places()).toEqual(['n-1', 'n-1']);
  });
});

describe('an incident that is recovered', () => {
  const recovered = fenced({ phase: 'recovered', powerOn: { wanted: true, requestedAt: 7 } });
  const confirmedOff = { at: 1, incident: 'i-n-1' };

  it('has its power-on counted once, before it is closed', async () => {
    const { store, look, node, incident } = world({ incident: recovered });
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = lost;
    await look();
    expect(incident().phase).toBe('recovered');
    store.nodes.bucket.mutate = mutate;
    await look(1_000);
    await look(2_000);
    await look(3_000);
    expect([node().poweredOnAt, incident().phase]).toEqual([[7], 'closed']);
  });

  it('stays open while its node is off, and takes what was assigned there late', async () => {
    const { store, look, incident, places } = world({ incident: recovered });
    store.nodes.set('n-1', aNode('n-1', { confirmedOff, poweredOnAt: [7] }));
    await look();
    expect([incident().phase, places()]).toEqual(['recovered', [undefined, undefined]]);
  });

  it('takes nothing from a node that is on again by its record as it is', async () => {
    const { store, look, places } = world({ incident: recovered });
    store.nodes.set('n-1', aNode('n-1', { confirmedOff, poweredOnAt: [7] }));
    const { get } = store.nodes.bucket;
    store.nodes.bucket.get = async (key) => {
      const found = await get(key);
      return found && { ...found, value: aNode('n-1', { poweredOnAt: [7] }) };
    };
    await look();
    expect(places()).toEqual(['n-1', 'n-1']);
  });

  it('is closed by the record of the node as it is', async () => {
    const { store, look, incident } = world({ incident: recovered });
    store.nodes.set('n-1', aNode('n-1', { poweredOnAt: [7] }));
    const { get } = store.nodes.bucket;
    store.nodes.bucket.get = async (key) => {
      const found = await get(key);
      return found && { ...found, value: { ...found.value, confirmedOff } };
    };
    await look();
    expect(incident().phase).toBe('recovered');
    store.nodes.bucket.get = get;
    await look(1_000);
    expect(incident().phase).toBe('closed');
  });

  it('is not closed by a conductor that a later one has followed', async () => {
    const { store, look, incident } = world({ incident: recovered });
    store.nodes.set('n-1', aNode('n-1', { poweredOnAt: [7] }));
    store.incidents.set('n-1', { ...recovered, conductor: TOKEN + 1 });
    await look();
    expect(incident()).toMatchObject({ phase: 'recovered', conductor: TOKEN + 1 });
  });

  it('is closed where its node was deleted', async () => {
    const { store, look, said } = world({ incident: recovered });
    store.nodes.set('n-1', undefined);
    await look();
    expect(said()).toEqual(['The node was deleted.']);
  });
});

describe('a node that speaks in the boot that its proof has ended', () => {
  it('has nothing taken from it once that is heard, and its proof is void when it goes on', async () => {
    const { look, incident, node, places, alarms, store } = world({ isProven: false });
    await look(0, 'n-2');
    await look(2_500, 'n-1', 'n-2');
    expect(alarms()).toEqual(['conflict-power']);
    // The same report, a moment later, may have been on its way all the while; the word of the device would count by now.
    await look(3_100, 'n-2');
    expect([incident().phase, places()]).toEqual(['fenced', ['n-1', 'n-1']]);
    await look(3_600, 'n-1', 'n-2');
    const devices = devicesMark([[aDevice()]]);
    expect(incident()).toMatchObject({ phase: 'failed', contradiction: { proof, devices, recovery: [] } });
    expect(node().powerIdentity?.['bmc']?.result).toBe('mismatch');
    await look(3_601);
    const logged = ['its proof of off is in doubt', 'its proof of off is void'];
    const ended = [['n-1', 'n-1'], logged, ['conflict-power']];
    expect([places(), store.logged, alarms()]).toEqual(ended);
  });

  it('once, and then no more, is fenced anew where a person called it off; the word of a device stands', async () => {
    for (const kind of ['manual', 'read-back'] as const) {
      const recovering = fenced({ phase: 'recovering', proof: { ...proof, kind } });
      const { look, incident, node } = world({ incident: recovering, isProven: true });
      await look(0);
      await look(2_000, 'n-1');
      await look(6_999);
      expect(incident().phase).toBe('recovering');
      await look(7_000);
      expect(incident().phase).toBe(kind === 'manual' ? 'failed' : 'recovering');
      expect(node().powerIdentity?.['bmc']?.result).not.toBe('mismatch');
    }
  });

  it('has its devices blamed before the incident, and again where that could not be written', async () => {
    const recovering = fenced({ phase: 'recovering' });
    const { store, look, incident, node } = world({ incident: recovering, isProven: false });
    store.nodes.set('n-1', aNode('n-1', { confirmedOff: { at: 1, incident: 'i-n-1' } }));
    store.workloads.live = false;
    await look(0);
    await look(5_000, 'n-1');
    const { mutate } = store.incidents.bucket;
    store.incidents.bucket.mutate = lost;
    await look(6_000, 'n-1');
    expect([incident().phase, node().powerIdentity?.['bmc']?.result]).toEqual(['recovering', 'mismatch']);
    expect(node().confirmedOff).toBeUndefined();
    store.incidents.bucket.mutate = mutate;
    await look(7_000, 'n-1');
    expect(incident().phase).toBe('failed');
  });
});

describe('what speaks against a proof of off', () => {
  const line = (workload: string) => ({ workload, from: 'n-1', state: 'waiting' as const });
  const recovering = fenced({ phase: 'recovering', recovery: [line('db'), line('web')] });
  /** n-1 has spoken once, at 2 500 ms, and its work waits for room. */
  const doubtful = async (o: { incident?: IncidentRecord; isProven?: boolean } = {}) => {
    const made = world({ incident: recovering, ...o });
    for (const name of ['db', 'web']) made.store.workloads.set(name, aWorkload(name));
    made.store.nodes.set('n-1', { ...made.node(), confirmedOff: { at: 1, incident: 'i-n-1' } });
    await made.look(0);
    await made.look(2_500, 'n-1');
    return made;
  };
  const runsAgain = (store: MemoryStore): void => void store.workloads.set('db', aWorkload('db', on('n-2')));

  it('is on record from the first word on: who takes over goes by it, and voids the proof by a further one', async () => {
    const { look, incident, alarms, takeOver, store, said } = await doubtful();
    const told = 'It has spoken in the boot that its proof of off had ended: nothing more of it is started elsewhere.';
    expect([incident().proof, said()]).toMatchObject([{ ...proof, doubt: { bootId: 'boot-n-1' } }, [told]]);
    takeOver();
    runsAgain(store);
    await look(9_000);
    await look(20_000);
    expect([incident().recovery, alarms()]).toEqual([recovering.recovery, ['conflict-power']]);
    await look(21_000, 'n-1');
    expect(incident()).toMatchObject({ phase: 'failed', contradiction: { proof, recovery: recovering.recovery } });
    expect(incident().proof).toBeUndefined();
  });

  it('is written before anything is void, again and again until it is', async () => {
    const { store, look, incident, node } = world({ incident: recovering });
    const { mutate } = store.incidents.bucket;
    await look(0);
    store.incidents.bucket.mutate = lost;
    for (const at of [2_500, 3_500, 4_500]) await look(at, 'n-1');
    expect(node().powerIdentity?.['bmc']?.result).toBe('proven');
    store.incidents.bucket.mutate = mutate;
    await look(5_500, 'n-1');
    expect(incident()).toMatchObject({ phase: 'recovering', proof: { doubt: { bootId: 'boot-n-1' } } });
    await look(6_500, 'n-1');
    expect(incident().phase).toBe('failed');
  });

  it('is not said of another proof, nor by a conductor that a later one has followed', async () => {
    for (const o of [{ proof: { ...proof, at: 5 } }, { conductor: TOKEN + 1 }, { phase: 'failed' as const }]) {
      const { store, look, incident } = world({ incident: recovering });
      await look(0);
      const { mutate } = store.incidents.bucket;
      store.incidents.bucket.mutate = async (key, fn) => {
        store.incidents.set('n-1', { ...recovering, ...o });
        return mutate(key, fn);
      };
      await look(2_500, 'n-1');
      expect(incident()).toEqual({ ...recovering, ...o });
    }
  });

  it('voids the word of a person under who takes over too, 5 s after that has seen it', async () => {
    const manual = { ...recovering, proof: { ...proof, kind: 'manual' as const } };
    const { look, incident, takeOver } = await doubtful({ incident: manual });
    takeOver();
    await look(4_000);
    await look(8_999);
    expect(incident().phase).toBe('recovering');
    await look(9_000);
    expect(incident()).toMatchObject({ phase: 'failed', contradiction: { proof: { kind: 'manual' } } });
  });

  it('voids it where the devices were blamed, and the process ended before the incident was written', async () => {
    const { store, look, incident, node, takeOver } = await doubtful();
    const { mutate } = store.incidents.bucket;
    store.incidents.bucket.mutate = lost;
    await look(3_500, 'n-1');
    expect([node().confirmedOff, node().powerIdentity?.['bmc']?.result]).toEqual([undefined, 'mismatch']);
    store.incidents.bucket.mutate = mutate;
    takeOver();
    await look(9_000);
    expect(incident()).toMatchObject({ phase: 'failed', contradiction: { recovery: recovering.recovery } });
  });

  it('is over once the node has spoken in another boot, by a report that came since', async () => {
    const { store, look, incident, takeOver } = await doubtful();
    runsAgain(store);
    const boots = (at: number, bootId: string): void =>
      store.reports.hear(aReport('n-1', { bootId, epoch: 2, seq: at, workloads: [] }), at);
    // Of before the takeover: nobody knows when that was.
    boots(3_000, 'boot-0');
    takeOver();
    await look(9_000);
    await look(10_000);
    expect(incident()).toMatchObject({ phase: 'recovering', proof: { doubt: {} } });
    boots(11_000, 'boot-2');
    await look(11_100);
    expect(incident().proof).toEqual(proof);
    await look(12_000);
    expect(incident().recovery[0]).toMatchObject({ workload: 'db', state: 'running' });
  });

  it('keeps from it what was assigned there late, also where it is recovered', async () => {
    const { store, look, incident, places } = await doubtful({ incident: { ...recovering, phase: 'recovered' } });
    expect(incident().proof?.doubt).toBeDefined();
    store.workloads.set('late', aWorkload('late', on('n-1')));
    await look(3_500);
    expect(places()).toContain('n-1');
  });

  it('is a device that was found to be another machine’s: nothing more is begun or gone on with by its word', async () => {
    for (const incident of [fenced(), recovering, { ...recovering, phase: 'recovered' as const }]) {
      const made = world({ incident, isProven: false });
      made.store.nodes.set('n-1', foreign(aNode('n-1', { confirmedOff: { at: 1, incident: 'i-n-1' } })));
      await made.look(0, 'n-2');
      expect(made.incident()).toMatchObject({ phase: incident.phase, proof: { doubt: { device: 'bmc' } } });
      await made.look(4_000, 'n-2');
      expect([made.incident(), made.places()]).toMatchObject([
        { phase: 'failed', contradiction: { proof: { doubt: { device: 'bmc' } } } },
        ['n-1', 'n-1'],
      ]);
      expect(made.said()).toContainEqual(expect.stringContaining("bmc was found to be another machine's"));
      expect(made.node().confirmedOff).toBeUndefined();
    }
  });

  it('is no such device once nothing waits to be started, or a person vouches for the node or the device', async () => {
    const running = recovering.recovery.map((r) => ({ ...r, state: 'running' as const, to: 'n-2' }));
    const acknowledged = (n: NodeRecord): NodeRecord =>
      withIdentity(n, 'bmc', { ...foreign(n).powerIdentity!['bmc']!, acknowledged: { by: 'ann', why: 'x', at: 3 } });
    for (const [o, change] of [
      [{ ...recovering, phase: 'recovered', recovery: running }, foreign],
      [{ ...recovering, proof: { ...proof, kind: 'manual' } }, foreign],
      [recovering, acknowledged],
    ] as const) {
      const { store, look, incident } = world({ incident: o as IncidentRecord });
      store.nodes.set('n-1', change(aNode('n-1', { confirmedOff: { at: 1, incident: 'i-n-1' } })));
      await look(0, 'n-2');
      expect(incident().proof?.doubt).toBeUndefined();
    }
  });
});

describe('the word of a device that is not proven', () => {
  it('counts 3 s after it was seen', async () => {
    const { look, incident } = world({ isProven: false });
    await look(0, 'n-2');
    await look(2_999, 'n-2');
    expect(incident().phase).toBe('fenced');
    await look(3_000, 'n-2');
    expect(incident().phase).toBe('recovering');
  });

  it('counts 3 s after it was given anew', async () => {
    const { store, look, incident } = world({ isProven: false });
    await look(0, 'n-2');
    store.incidents.set('n-1', fenced({ phase: 'failed' }));
    store.incidents.set('n-1', fenced({ proof: { ...proof, at: 2 } }));
    await look(2_000, 'n-2');
    await look(4_999, 'n-2');
    expect(incident().phase).toBe('fenced');
    await look(5_000, 'n-2');
    expect(incident().phase).toBe('recovering');
  });

  it('does not count while nobody sees the fleet, or the view of the nodes has a gap', async () => {
    const { store, look, incident } = world({ isProven: false });
    await look(0, 'n-2');
    store.detector.sees = false;
    await look(3_000, 'n-2');
    store.detector.sees = true;
    store.nodes.live = false;
    await look(4_000, 'n-2');
    expect(incident().phase).toBe('fenced');
    store.nodes.live = true;
    await look(5_000, 'n-2');
    expect(incident().phase).toBe('recovering');
  });

  it('is held while another is silent that fell silent with the off, and counts once that has spoken', async () => {
    const { store, look, incident, alarms, said } = world({ isProven: false });
    store.reports.hear(aReport('n-2', { seq: 1 }), 0);
    await look(0);
    await look(2_500);
    expect(incident().collateral).toMatchObject({ nodes: [{ node: 'n-2', bootId: 'boot-n-2' }] });
    await look(4_000);
    expect([incident().phase, alarms()]).toEqual(['fenced', ['collateral']]);
    await look(5_000, 'n-2');
    expect(incident().collateral).toBeUndefined();
    await look(6_000, 'n-2');
    expect([incident().phase, alarms(), said()[1]]).toMatchObject([
      'recovering',
      [],
      'n-2 spoke in the old boot: the off was not theirs.',
    ]);
  });

  it('is left as it is where a person has confirmed the node down meanwhile', async () => {
    const { store, look, incident } = world({ isProven: false });
    store.reports.hear(aReport('n-2', { seq: 1 }), 0);
    await look(0);
    const confirmed = fenced({ proof: { ...proof, kind: 'manual' } });
    const { mutate } = store.incidents.bucket;
    store.incidents.bucket.mutate = async (key, fn) => {
      store.incidents.set('n-1', confirmed);
      return mutate(key, fn);
    };
    await look(2_500);
    expect(incident()).toEqual(confirmed);
  });
});

describe('a drill', () => {
  const drill = { at: 1 };
  const drilledWorld = () => {
    const made = world({ isProven: false, incident: fenced({ phase: 'fencing', drill, commands: [] }) });
    return { ...made, giveOff: () => made.store.incidents.set('n-1', fenced({ drill })) };
  };

  it('is judged before anything is recovered, the node first', async () => {
    const { store, look, giveOff, incident, node, places } = drilledWorld();
    await look(0, 'n-1', 'n-2');
    giveOff();
    await look(500, 'n-2');
    const { mutate } = store.incidents.bucket;
    store.incidents.bucket.mutate = lost;
    await look(4_000, 'n-2');
    expect([incident().drill, node().powerIdentity?.['bmc']?.result]).toEqual([drill, 'proven']);
    store.incidents.bucket.mutate = mutate;
    await look(5_000, 'n-2');
    expect([incident().drill?.result?.ok, places()]).toEqual([true, ['n-1', 'n-1']]);
    await look(6_000, 'n-2');
    expect(places()).toEqual([undefined, undefined]);
  });

  it('proves nothing of devices that were edited since its off, before it is judged or while it is', async () => {
    const elsewhere = { ...aDevice(), address: '10.0.9.9' };
    for (const within of [false, true]) {
      const { store, look, incident, node } = drilledWorld();
      await look(0, 'n-1', 'n-2');
      store.incidents.set('n-1', fenced({ drill, devices: devicesMark([[aDevice()]]) }));
      await look(500, 'n-2');
      const { mutate } = store.nodes.bucket;
      const edit = (): void => void store.nodes.set('n-1', { ...node(), powerLevels: [[elsewhere]] });
      if (!within) edit();
      else
        store.nodes.bucket.mutate = async (key, fn) => {
          edit();
          return mutate(key, fn);
        };
      await look(4_000, 'n-2');
      store.nodes.bucket.mutate = mutate;
      await look(5_000, 'n-2');
      expect([incident().drill?.result?.ok, provenIdentity(node(), elsewhere)]).toEqual([false, undefined]);
    }
  });

  it('that has shown another machine’s device is no proof for work that was assigned there late', async () => {
    const judged = { ...drill, result: { ok: false, at: 2, detail: 'n-2 fell silent' } };
    const mismatch = { result: 'mismatch' as const, at: 2, basis: identityBasis(aDevice()) };
    for (const isEmpty of [false, true]) {
      const { store, look, incident, places } = world({ isProven: false, incident: fenced({ drill: judged }) });
      store.nodes.set('n-1', withIdentity(aNode('n-1'), 'bmc', mismatch));
      if (isEmpty) for (const name of ['db', 'web']) store.workloads.set(name, aWorkload(name));
      await look(0, 'n-2');
      await look(4_000, 'n-2');
      await look(5_000, 'n-2');
      if (isEmpty) expect(incident().phase).not.toBe('failed');
      else expect([incident().phase, places()]).toEqual(['failed', ['n-1', 'n-1']]);
    }
  });

  it('is judged also where its node was deleted meanwhile', async () => {
    const { store, look, giveOff, incident, failed } = drilledWorld();
    await look(0, 'n-1', 'n-2');
    giveOff();
    await look(500, 'n-2');
    store.nodes.set('n-1', undefined);
    await look(4_000, 'n-2');
    expect([failed, incident().drill?.result?.ok]).toEqual([[], true]);
  });
});
