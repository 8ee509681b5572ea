import { describe, expect, it } from 'vitest';
import {
  MusterError,
  standIn,
  type JobRecord,
  type NodeRecord,
  type RunningWorkload,
  type WorkloadRecord,
} from '#contracts';
import { GATE_MS } from '#domain/workload/start-decision.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { planRound } from '../../testing/plan-round.js';
import { playRun } from '../../testing/play-run.js';
import { aNode, anIncident, aReport, aWorkload } from '../../testing/records.js';
import { SETTLE_MS } from '../settled.js';
import { MOVE_AFTER_MS } from './own-node-step.js';
import { ALARM_AFTER_MS, startSteps } from './start-steps.js';
import { starts } from './starts.js';

const at = (node: string, generation = 2): Partial<WorkloadRecord> => ({
  generation,
  assignment: { node, generation },
});
const owed = (node: string, cause = 'unassigned', attempt = 0): Partial<WorkloadRecord> => ({
  ...at(node),
  start: { cause, attempt },
});

/** Three nodes in service, each heard in every round. */
function world(workloads: Record<string, Partial<WorkloadRecord>>, nodes: Record<string, Partial<NodeRecord>> = {}) {
  const store = new MemoryStore();
  store.detector.sees = true;
  for (const name of ['n-1', 'n-2', 'n-3']) store.nodes.set(name, aNode(name, nodes[name]));
  for (const [name, o] of Object.entries(workloads)) store.workloads.set(name, aWorkload(name, o));
  const plans = planExecutor(store);
  const sut = plans.drive(starts);
  let seq = 0;
  /** @param runs node → what runs there; `null`: it says nothing. @default nothing runs there */
  const round = (
    now: number,
    runs: Record<string, (string | RunningWorkload)[] | null> = {},
    token = 9,
  ): Promise<void> => {
    store.clock.now = now;
    seq += 1;
    for (const name of ['n-1', 'n-2', 'n-3', ...Object.keys(runs)]) {
      const names = runs[name];
      if (names === null) continue;
      const list = (names ?? []).map((w): RunningWorkload => (typeof w === 'string' ? { name: w, generation: 2 } : w));
      store.reports.hear(aReport(name, { seq, workloads: list }), now);
    }
    return playRun(sut, { now, token });
  };
  const shown = () => {
    const { fleet, ages } = plans.asOf(starts);
    return startSteps(fleet, ages).made;
  };
  const of = (name: string): WorkloadRecord => store.workloads.content[name] as WorkloadRecord;
  const jobs = (): JobRecord[] => Object.values(store.jobs.content);
  return { store, round, shown, of, jobs, alarms: () => Object.keys(active(store)) };
}

const active = (store: MemoryStore) =>
  Object.fromEntries(Object.entries(store.alarms.content).filter(([, a]) => a.cleared === undefined));
/** What each starts. */
const given = (jobs: JobRecord[]): string[] =>
  jobs.map((j) => (j.recover ?? []).map((r) => r.workload).join(' ')).toSorted();
const off = { maintenance: { reason: 'fenced', at: 1, incident: 'i' } };

describe('a start that is handed to a job', () => {
  it('shares it with those that are owed there for the same cause, and is named before the job is written', async () => {
    const { store, round, jobs, of } = world({ a: owed('n-1'), b: owed('n-1'), c: owed('n-2') });
    const named: (string | undefined)[] = [];
    const { create } = store.jobs.bucket;
    store.jobs.bucket.create = async (key, value) => {
      named.push(...(value.recover ?? []).map((r) => of(r.workload).start?.job));
      return create(key, value);
    };
    await round(0);
    expect(given(jobs())).toEqual(['a b', 'c']);
    expect(new Set(named)).toEqual(new Set(jobs().map((j) => j.id)));
    expect(named).toHaveLength(3);
    expect(store.told.toSorted()).toEqual(
      jobs()
        .map((j) => `job ${j.id}`)
        .toSorted(),
    );
  });

  it('is written by the next conductor where the one before went down in between, and only once', async () => {
    const { store, round, jobs, of } = world({ a: owed('n-1'), b: owed('n-1') });
    const { create } = store.jobs.bucket;
    store.jobs.bucket.create = async () => Promise.reject(new MusterError('TIMEOUT', 'no answer'));
    await expect(round(0)).rejects.toThrow('no answer');
    expect([jobs(), of('a').start?.job]).toEqual([[], of('b').start?.job]);
    store.jobs.bucket.create = create;
    await round(1_000, {}, 10);
    await round(2_000, {}, 10);
    expect(jobs().map((j) => [j.id, j.conductor])).toEqual([[of('a').start?.job, 10]]);
    expect(given(jobs())).toEqual(['a b']);
  });

  it('is in that job alone where the write of another of its group fails', async () => {
    const { store, round, jobs } = world({ a: owed('n-1'), b: owed('n-1') });
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) =>
      key === 'b' ? Promise.reject(new MusterError('TIMEOUT', 'no answer')) : mutate(key, fn);
    await expect(round(0)).rejects.toThrow('no answer');
    store.workloads.bucket.mutate = mutate;
    await round(1_000);
    expect(given(jobs())).toEqual(['a', 'b']);
  });

  it('is not written again where only the view of the jobs is behind', async () => {
    const { store, round, of } = world({ a: { ...at('n-1'), start: { cause: 'x', attempt: 0, job: 'j' } } });
    const job = { key: 'j', revision: 5, value: { id: 'j' } as JobRecord };
    store.jobs.bucket.read = async () => Promise.resolve(job);
    await round(0);
    expect([store.told, of('a').start?.job]).toEqual([[], 'j']);
  });

  it('is told where nobody can read its job, and not given to another', async () => {
    const { store, round, of } = world({ a: { ...at('n-1'), start: { cause: 'x', attempt: 0, job: 'j' } } });
    store.jobs.bucket.read = async () => Promise.resolve({ why: 'broken', revision: 5 } as never);
    await expect(round(0)).rejects.toThrow('nobody can read its job j');
    expect([store.told, of('a').start?.job]).toEqual([[], 'j']);
  });

  it('is not given twice by two who decide on the same record: the others of its group are', async () => {
    const { store, round, jobs, of } = world({ a: owed('n-1'), b: owed('n-1') });
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      if (key === 'a')
        store.workloads.set('a', { ...of('a'), start: { cause: 'unassigned', attempt: 0, job: 'other' } });
      return mutate(key, fn);
    };
    await round(0);
    expect([of('a').start?.job, given(jobs())]).toEqual(['other', ['b']]);
  });

  it('is not given to an assignment of before', async () => {
    const { store, round, jobs, of } = world({ a: owed('n-1') });
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      store.workloads.set('a', { ...of('a'), ...owed('n-2'), ...at('n-2', 3) });
      return mutate(key, fn);
    };
    await round(0);
    expect([of('a').start?.job, jobs()]).toEqual([undefined, []]);
  });

  it('is not given while a view has a gap', async () => {
    const { store, round, jobs, shown } = world({ a: owed('n-1'), b: {} });
    store.incidents.live = false;
    await round(0);
    expect(shown().map((s) => s.do)).toEqual(['wait', 'no-room']);
    expect(jobs()).toEqual([]);
  });

  it('is done by the word of the job, or tried again after it, later each time', async () => {
    const { store, round, jobs, of, shown } = world({ a: owed('n-1'), b: owed('n-2') });
    await round(0);
    for (const job of jobs()) {
      const ok = job.nodes[0] === 'n-2';
      const workloads = { [ok ? 'b' : 'a']: { started: ok, reason: ok ? '' : 'its unit failed' } };
      const results = { [job.nodes[0] ?? '']: { ok, step: 'recover' as const, workloads } };
      store.jobs.set(job.id, { ...job, status: ok ? 'Complete' : 'Errored', results });
    }
    await round(1_000);
    expect(of('b')).toMatchObject({ boot: 'boot-n-2' });
    expect(of('b')).not.toHaveProperty('start');
    expect(of('a')).toMatchObject({ start: { cause: 'unassigned', attempt: 1 }, held: 'its unit failed' });
    await round(1_500);
    await round(2_400);
    expect([jobs().length, shown()]).toMatchObject([2, [{ do: 'wait', code: 'RETRY', leftMs: 100 }]]);
    await round(2_500);
    expect(jobs()).toHaveLength(3);
  });
});

describe('what its node reports', () => {
  it('is started, and is not given to a job in the same round', async () => {
    const { store, round, jobs, of } = world({ a: { ...owed('n-1', 'ended'), boot: 'boot-n-1' } });
    await round(0, { 'n-1': ['a'] });
    expect([of('a').start, of('a').boot, jobs()]).toEqual([undefined, 'boot-n-1', []]);
    expect(store.told).toEqual(['workload a']);
  });

  it('is not planned to be given to a job either', () => {
    const { store } = world({ a: owed('n-1', 'ended') });
    for (const name of ['n-1', 'n-2', 'n-3'])
      store.reports.hear(
        aReport(name, { workloads: name === 'n-1' ? [{ name: 'a', generation: 2 }] : [] }),
        store.clock.now,
      );
    expect(planRound(starts, store).intents.map((i) => i.do)).toEqual(['change-workload']);
  });

  it('is lost with a boot that does not name it, unless its record has moved on', async () => {
    const { store, round, of } = world({ a: { ...at('n-1'), boot: 'old' }, b: { ...at('n-1'), boot: 'old' } });
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      if (key === 'b') store.workloads.set('b', { ...of('b'), boot: 'boot-n-1' });
      return mutate(key, fn);
    };
    await round(0);
    expect([of('a').start, of('b').start]).toEqual([{ cause: 'reboot:boot-n-1', attempt: 0 }, undefined]);
  });

  it('elsewhere than where it is assigned is followed, and nothing is started', async () => {
    const { store, round, of, jobs } = world({ a: owed('n-1'), b: {} });
    await round(0, { 'n-2': ['a'], 'n-3': ['b'] });
    expect([of('a').assignment, of('b').assignment]).toEqual([
      { node: 'n-2', generation: 3, followed: 2 },
      { node: 'n-3', generation: 1, followed: 2 },
    ]);
    expect([jobs(), store.logged.length]).toEqual([[], 2]);
  });

  describe('only being started on another node', () => {
    const starting = { 'n-2': [{ name: 'a', generation: 1, starting: true as const }] };

    it('is not followed there before its own node says that it does not run it', async () => {
      const { round, of, jobs } = world({ a: owed('n-1') });
      for (const now of [0, ALARM_AFTER_MS + 1_000, GATE_MS * 2]) await round(now, { ...starting, 'n-1': null });
      expect([of('a').assignment?.node, jobs()]).toEqual(['n-1', []]);
      expect(of('a').held).toMatch(/n-1 does not say/);
      await round(GATE_MS * 2 + 1, starting);
      expect(of('a').assignment).toEqual({ node: 'n-2', generation: 3 });
    });

    it('is waited for until its gate has refused it, and then started where it belongs', async () => {
      const { round, of, jobs, shown } = world({ a: owed('n-1') });
      await round(0, starting);
      expect(shown()).toMatchObject([{ code: 'STARTS_ELSEWHERE', leftMs: GATE_MS }]);
      await round(ALARM_AFTER_MS + 1, starting);
      expect(of('a').held).toMatch(/being started on n-2, whose start gate may still refuse it/);
      await round(GATE_MS, starting);
      expect([of('a').assignment?.node, jobs()]).toEqual(['n-1', []]);
      await round(GATE_MS + 1);
      expect(given(jobs())).toEqual(['a']);
      expect(jobs()[0]?.nodes).toEqual(['n-1']);
    });

    it('is followed after a while: the unit may be tried again for ever', async () => {
      const { round, of } = world({ a: owed('n-1') });
      await round(0, starting);
      await round(GATE_MS, starting);
      expect(of('a').assignment?.node).toBe('n-1');
      await round(GATE_MS + 1, starting);
      expect(of('a').assignment).toEqual({ node: 'n-2', generation: 3 });
    });

    it.each([owed('n-1', 'put'), {}])(
      'has its start given there once the registry has followed it: its gate refuses it until then',
      async (w) => {
        const { round, of, jobs } = world({ a: w });
        for (const now of [0, GATE_MS + 1]) await round(now, starting);
        expect([of('a').start, jobs()]).toEqual([{ cause: 'unassigned', attempt: 0 }, []]);
        await round(GATE_MS + 1_000, starting);
        expect([given(jobs()), jobs()[0]?.nodes]).toEqual([['a'], ['n-2']]);
      },
    );

    it('is followed to one of two that only start it, also where it would be placed on one of them, and somebody is told', async () => {
      const { round, of, jobs, alarms } = world({ a: {} });
      const both = { ...starting, 'n-1': starting['n-2'] };
      for (const now of [0, GATE_MS]) await round(now, both);
      expect(of('a').assignment).toBeUndefined();
      for (const inMs of [1, 1_000, 1_000 + ALARM_AFTER_MS + 1]) await round(GATE_MS + inMs, both);
      expect([of('a').assignment?.node, jobs(), alarms()]).toEqual(['n-1', [], ['workload-held=a']]);
    });

    it('is placed nowhere before its gate has refused it, nor taken for one without room', async () => {
      const { round, of, alarms } = world({ a: {} }, { 'n-1': off, 'n-2': off });
      await round(0, starting);
      await round(GATE_MS, starting);
      expect([of('a').assignment, of('a').held, alarms()]).toEqual([undefined, undefined, []]);
      await round(GATE_MS + 1);
      expect(of('a').assignment?.node).toBe('n-3');
    });
  });

  describe('only being started where its start is owed', () => {
    const tries: RunningWorkload = { name: 'a', generation: 1, starting: true, gated: true };

    it.each(['incident:i', 'move:drain', 'unassigned', 'put'])(
      'is given its start: without one its gate refuses it for ever (%s)',
      async (cause) => {
        const { round, of, jobs } = world({ a: owed('n-1', cause) });
        await round(0, { 'n-1': [tries] });
        expect(given(jobs())).toEqual(['a']);
        expect([jobs()[0]?.nodes, of('a').start?.job]).toEqual([['n-1'], jobs()[0]?.id]);
        await round(1_000, { 'n-1': [tries] });
        expect([jobs().length, of('a').start?.job]).toEqual([1, jobs()[0]?.id]);
        await round(2_000, { 'n-1': ['a'] });
        expect(of('a')).not.toHaveProperty('start');
      },
    );

    it('is tried again after a try that failed, and not before that is due', async () => {
      const { round, jobs } = world({ a: owed('n-1', 'incident:i', 1) });
      await round(0, { 'n-1': [tries] });
      await round(900, { 'n-1': [tries] });
      expect(jobs()).toEqual([]);
      await round(1_000, { 'n-1': [tries] });
      expect(given(jobs())).toEqual(['a']);
    });

    it('waits for whoever does not say that it does not run it', async () => {
      const { round, of, jobs } = world({ a: owed('n-1', 'incident:i') });
      for (const now of [0, ALARM_AFTER_MS + 1]) await round(now, { 'n-1': [tries], 'n-3': null });
      expect([jobs(), of('a').held]).toEqual([[], 'Held: it is not known what runs on n-3.']);
    });

    it('waits for a unit that is being started on another node as well, however long', async () => {
      const { round, of, jobs, alarms } = world({ a: owed('n-1', 'incident:i') });
      for (const now of [0, GATE_MS, GATE_MS * 3]) await round(now, { 'n-1': [tries], 'n-2': [tries] });
      expect([jobs(), of('a').assignment?.node, alarms()]).toEqual([[], 'n-1', ['workload-held=a']]);
    });

    it('is held, with an alarm, where its node is out of service', async () => {
      const { round, of, jobs, alarms } = world({ a: owed('n-1', 'incident:i') }, { 'n-1': off });
      for (const now of [0, MOVE_AFTER_MS]) await round(now, { 'n-1': [tries] });
      expect([jobs(), of('a').assignment?.node, alarms()]).toEqual([[], 'n-1', ['workload-held=a']]);
    });
  });

  it('on a node that counts as off holds it, with an alarm', async () => {
    const { round, of, jobs, alarms } = world(
      { a: owed('n-1') },
      { 'n-3': { confirmedOff: { at: 1, incident: 'i' } } },
    );
    await round(0, { 'n-3': ['a'] });
    expect(of('a').held).toMatch(/reported running on n-3/);
    expect([jobs(), alarms()]).toEqual([[], ['workload-held=a']]);
  });
});

describe('work whose node is out of service', () => {
  const lost = owed('n-1', 'reboot:boot-n-1');

  it('is spread over the others after a while, all of it at once', async () => {
    const { round, of } = world({ a: lost, b: lost }, { 'n-1': off });
    await round(0);
    await round(MOVE_AFTER_MS - 1);
    expect(of('a').held).toBeUndefined();
    await round(MOVE_AFTER_MS);
    await round(MOVE_AFTER_MS + 1);
    expect(new Set([of('a').assignment?.node, of('b').assignment?.node])).toEqual(new Set(['n-2', 'n-3']));
  });

  it('goes where there is room once what is assigned nowhere has been placed', async () => {
    const one = { vars: { capacity: 1 } };
    const { store, round, of } = world({ a: { ...lost, held: 'h' } }, { 'n-1': off, 'n-2': one, 'n-3': off });
    await round(0);
    store.workloads.set('b', aWorkload('b'));
    await round(MOVE_AFTER_MS);
    expect([of('a').assignment?.node, of('b').assignment?.node]).toEqual(['n-1', 'n-2']);
  });

  it('stays where a boot of its node may start it without asking, however long that takes, and somebody is told', async () => {
    const { store, round, of, alarms } = world({ a: lost, b: lost }, { 'n-1': { ...off, ungated: ['a'] } });
    await round(0);
    await round(MOVE_AFTER_MS);
    await round(MOVE_AFTER_MS + SETTLE_MS);
    expect([of('a').assignment?.node, of('b').assignment?.node === 'n-1']).toEqual(['n-1', false]);
    expect(alarms()).toContain('workload-held=a');
    expect(of('a').held).toContain('without asking');
    // It has been started there with its gate, say.
    store.nodes.set('n-1', aNode('n-1', off));
    await round(MOVE_AFTER_MS + SETTLE_MS + 1);
    expect(of('a').assignment?.node).not.toBe('n-1');
  });

  it('stays where another node that may run it is silent, and is told so, as the plan says', async () => {
    const { round, of, shown, alarms } = world({ a: { ...lost, held: 'h' } }, { 'n-1': off });
    await round(0);
    await round(MOVE_AFTER_MS, { 'n-3': null });
    expect(of('a').assignment?.node).toBe('n-1');
    await round(MOVE_AFTER_MS + SETTLE_MS, { 'n-3': null });
    const why = 'n-1 is out of service: fenced. Held: it is not known what runs on n-3.';
    expect(shown()).toMatchObject([{ do: 'hold', code: 'SILENT', why, held: { text: why } }]);
    expect([alarms(), of('a').held]).toEqual([['workload-held=a'], why]);
  });
});

it('is not started while it may run on a node that named it last, and whose fencing has failed', async () => {
  const { store, round, jobs, shown } = world({ a: owed('n-1') });
  store.nodes.set('n-4', aNode('n-4', { state: 'Disappeared' }));
  store.incidents.set('n-4', anIncident('n-4', { phase: 'failed' }));
  store.reports.hear(aReport('n-4', { workloads: [{ name: 'a', generation: 1 }] }), -10_000);
  await round(0);
  expect(jobs()).toEqual([]);
  expect(shown()).toMatchObject([{ do: 'wait', why: 'Held: n-4 named it last, and is not proven off.' }]);
  store.nodes.set('n-4', aNode('n-4', { state: 'Disappeared', ...off, confirmedOff: { at: 1, incident: 'i' } }));
  await round(1_000);
  expect(given(jobs())).toEqual(['a']);
});

describe('what it waits for', () => {
  it('is noted of the generation that was looked at alone', async () => {
    const { store, round, of } = world({ a: {} }, { 'n-1': off, 'n-2': off, 'n-3': off });
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      store.workloads.set('a', { ...of('a'), ...at('n-1', 7), start: { cause: 'x', attempt: 0 } });
      return mutate(key, fn);
    };
    await round(0);
    expect(of('a').held).toBeUndefined();
  });
});

describe('a proof of off that its node contradicts', () => {
  it('bars what was taken from it: that is placed nowhere', async () => {
    const { store, round, of, alarms, shown } = world({ a: {} });
    const recovery = [{ workload: 'a', from: 'n-9', state: 'waiting' as const }];
    store.nodes.set('n-2', aNode('n-2', { cordon: { by: 'ann', at: 1, reason: 'r' } }));
    store.nodes.set('n-1', aNode('n-1', { cordon: { by: 'ann', at: 1, reason: 'r' } }));
    store.nodes.set('n-3', aNode('n-3', { cordon: { by: 'ann', at: 1, reason: 'r' } }));
    store.incidents.set('n-9', anIncident('n-9', { phase: 'recovered', bootId: 'boot-n-9', recovery }));
    await round(0, { 'n-9': [] });
    for (const name of ['n-1', 'n-2', 'n-3']) store.nodes.set(name, aNode(name));
    await round(2_000, { 'n-9': [] });
    expect([of('a').assignment, shown().map((s) => s.code)]).toEqual([undefined, ['BARRED']]);
    expect(alarms()).toEqual(['workload-held=a']);
  });

  it('bars it by what is on record, where this process has heard nothing of it', async () => {
    const { store, round, of, shown } = world({ a: {} });
    const proof = { kind: 'read-back' as const, at: 1, doubt: { at: 2, bootId: 'boot-n-9' } };
    const recovery = [{ workload: 'a', from: 'n-9', state: 'waiting' as const }];
    const incident = anIncident('n-9', { phase: 'recovering', bootId: 'boot-n-9', recovery, proof });
    store.incidents.set('n-9', incident);
    await round(0);
    await round(1_000);
    expect([of('a').assignment, shown().map((s) => s.code)]).toEqual([undefined, ['BARRED']]);
    store.incidents.set('n-9', { ...incident, proof: { kind: 'manual', at: 3 } });
    await round(2_000);
    expect(of('a').assignment).toBeDefined();
  });

  it('bars it still where that incident cannot be read any more, until its node says itself what it runs', async () => {
    const { store, round, of, shown } = world({ a: {}, b: {} });
    const proof = { kind: 'read-back' as const, at: 1, doubt: { at: 2, bootId: 'boot-n-9' } };
    const recovery = [{ workload: 'a', from: 'n-9', state: 'waiting' as const }];
    store.nodes.set('n-9', aNode('n-9', { confirmedOff: { at: 1, incident: 'i-9' } }));
    store.incidents.set('n-9', anIncident('n-9', { phase: 'recovering', bootId: 'boot-n-9', recovery, proof }));
    await round(0);
    const unread = standIn({ bucket: 'incidents', key: 'n-9', revision: 7, why: 'it is not JSON' });
    if (unread !== undefined) store.incidents.set('n-9', unread);
    await round(1_000);
    await round(2_000);
    expect([of('a').assignment, shown()[0]?.code]).toEqual([undefined, 'BARRED']);
    // What is assigned already is not from there.
    expect(of('b').assignment).toBeDefined();
    store.nodes.set('n-9', aNode('n-9'));
    await round(3_000, { 'n-9': [] });
    expect(of('a').assignment).toBeDefined();
  });

  it('bars what its node has kept since it came back, and does not call that node off', async () => {
    const { store, round, of, alarms, shown } = world({ a: owed('n-3') }, { 'n-3': off });
    const proof = { kind: 'read-back' as const, at: 1, doubt: { at: 2, device: 'bmc' } };
    const recovery = [{ workload: 'a', from: 'n-3', to: 'n-3', state: 'held' as const }];
    store.incidents.set('n-3', anIncident('n-3', { phase: 'recovered', bootId: 'boot-0', recovery, proof }));
    await round(0);
    await round(MOVE_AFTER_MS);
    await round(MOVE_AFTER_MS + 1);
    const why = 'What proved n-3 off is in doubt, or proves nothing: it may run there still.';
    expect(shown()).toMatchObject([{ do: 'hold', code: 'BARRED', why }]);
    expect([of('a').assignment?.node, alarms()]).toEqual(['n-3', ['workload-held=a']]);
  });
});

describe('an alarm about a start', () => {
  it('says of a dead node that is not proven off that it named the work last, as the plan does', async () => {
    const { store, round, of, shown, alarms } = world({});
    await round(0, { 'n-3': ['a'] });
    store.workloads.set('a', aWorkload('a', owed('n-1')));
    store.nodes.set('n-3', aNode('n-3', { state: 'Disappeared' }));
    store.incidents.set('n-3', anIncident('n-3', { phase: 'suppressed' }));
    await round(20_000, { 'n-3': null });
    await round(20_000 + SETTLE_MS, { 'n-3': null });
    const why = 'Held: n-3 named it last, and is not proven off.';
    expect([alarms(), of('a').held, active(store)['workload-held=a']?.message]).toEqual([
      ['workload-held=a'],
      why,
      why,
    ]);
    expect(shown()).toMatchObject([{ do: 'wait', why }]);
  });

  it('is raised once a silent node has been silent for a while, and goes with the start', async () => {
    const { round, of, alarms } = world({ a: owed('n-1') }, { 'n-3': { vars: {} } });
    await round(0);
    expect(of('a').start?.job).toBeDefined();
    const late = world({ a: owed('n-1') });
    await late.round(0, { 'n-3': null });
    await late.round(SETTLE_MS, { 'n-3': null });
    expect([late.alarms(), late.of('a').held]).toEqual([
      ['workload-held=a'],
      'Held: it is not known what runs on n-3.',
    ]);
    await late.round(SETTLE_MS + 1_000);
    expect([late.alarms(), late.of('a').held]).toEqual([[], undefined]);
    expect(alarms()).toEqual([]);
  });

  it('is neither raised nor cleared by who has just begun to look', async () => {
    const { store, round, alarms } = world({ a: {} }, { 'n-1': off, 'n-2': off, 'n-3': off });
    const was = { severity: 'critical' as const, message: 'm', since: 1, count: 1 };
    store.alarms.set('no-room=b', { code: 'no-room', subject: 'b', ...was });
    await round(0, { 'n-3': null });
    await round(SETTLE_MS - 1, { 'n-3': null });
    expect(alarms()).toEqual(['no-room=b']);
    // Another term begins anew.
    await round(SETTLE_MS, { 'n-3': null }, 10);
    expect(alarms()).toEqual(['no-room=b']);
    await round(SETTLE_MS + 1, {}, 10);
    expect(alarms()).toEqual(['no-room=a']);
  });

  it('stays as it is over a gap in a view, and for a while after it', async () => {
    const { store, round, alarms } = world({ a: {} }, { 'n-1': off, 'n-2': off, 'n-3': off });
    await round(0);
    expect(alarms()).toEqual(['no-room=a']);
    store.workloads.set('a', aWorkload('a', { desired: 'stopped' }));
    store.jobs.live = false;
    await round(1_000);
    store.jobs.live = true;
    await round(4_000, { 'n-3': null });
    expect(alarms()).toEqual(['no-room=a']);
    await round(5_000);
    expect(alarms()).toEqual([]);
  });

  it('about work on a wrong node waits for what is on its way', async () => {
    const { round, alarms } = world({ a: at('n-1') });
    await round(0, { 'n-1': ['a'], 'n-2': ['a'] });
    await round(3_000, { 'n-1': ['a'], 'n-2': ['a'] });
    expect(alarms()).toEqual([]);
    await round(3_001, { 'n-1': ['a'], 'n-2': ['a'] });
    expect(alarms()).toEqual(['conflict-workload=a']);
    await round(4_000, { 'n-1': ['a'] });
    expect(alarms()).toEqual([]);
  });
});

it('what simply runs is looked at once: neither its report nor the other nodes are asked for', async () => {
  const { store, round, shown } = world({ a: { ...at('n-1'), boot: 'boot-n-1' } });
  await round(0, { 'n-1': ['a'] });
  expect([shown(), store.told]).toEqual([[], []]);
});

describe('the alarm of what its node did not start, and does not stop', () => {
  const move = { cause: 'start-failed', from: 'n-1', to: 'n-2' };
  const leaving = (attempt: number): Partial<WorkloadRecord> => ({
    ...{ ...at('n-1'), move, stop: { cause: 'move:start-failed', attempt, why: 'No space left on device' } },
  });
  const severity = ({ store }: ReturnType<typeof world>) => active(store)['workload-held=db']?.severity;

  it('stays critical while it runs nowhere, also while the first stop is under way', async () => {
    const w = world({ db: owed('n-1', 'unassigned', 3) });
    await w.round(0);
    expect(severity(w)).toBe('critical');
    for (const [i, attempt] of [0, 1].entries()) {
      w.store.workloads.set('db', aWorkload('db', leaving(attempt)));
      await w.round(SETTLE_MS + i);
      expect(severity(w)).toBe('critical');
    }
  });

  it('is critical also where its node says nothing, and a warning where that runs it', async () => {
    const w = world({ db: leaving(1) });
    await w.round(0, { 'n-1': null });
    expect(severity(w)).toBe('critical');
    await w.round(1, { 'n-1': ['db'] });
    expect(severity(w)).toBe('warning');
    w.store.workloads.set('db', aWorkload('db', { ...leaving(1), move: { ...move, cause: 'drain' } }));
    await w.round(10_000, { 'n-1': null });
    expect(severity(w)).toBe('warning');
  });
});
