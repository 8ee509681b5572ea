import { describe, expect, it } from 'vitest';
import {
  MusterError,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type PowerOrder,
  type WorkloadRecord,
} from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode, anIncident, aReport, aWorkload } from '../../testing/records.js';
import { moves, movesView } from './moves.js';

const on = (node: string): Partial<WorkloadRecord> => ({ generation: 2, assignment: { node, generation: 2 } });
const cordoned: Partial<NodeRecord> = { cordon: { by: 'ann', at: 1, reason: 'r' } };
const drain: Partial<NodeRecord> = { cordon: { by: 'ann', at: 1, reason: 'r', drain: true } };

/** Two nodes; each says what is assigned to it, in each round. */
function world(o: {
  nodes?: Record<string, Partial<NodeRecord>>;
  workloads?: Record<string, Partial<WorkloadRecord>>;
  /** Of a maintenance with `force` of n-1, which waits for these. */
  moving?: string[];
}) {
  const store = new MemoryStore();
  store.detector.sees = true;
  for (const name of ['n-1', 'n-2']) store.nodes.set(name, aNode(name, o.nodes?.[name]));
  for (const [name, w] of Object.entries(o.workloads ?? {})) store.workloads.set(name, aWorkload(name, w));
  if (o.moving !== undefined) {
    const job = { id: 'j', kind: 'maintenance', status: 'Queued', nodes: ['n-1'], moving: o.moving };
    store.jobs.set('j', job as JobRecord);
  }
  const plans = planExecutor(store);
  const sut = plans.drive(moves);
  const round = (now: number, silent: string[] = []): Promise<void> => {
    store.clock.now = now;
    for (const node of ['n-1', 'n-2'].filter((name) => !silent.includes(name))) {
      const here = Object.values(store.workloads.content).filter((w) => w.assignment?.node === node);
      const workloads = here
        .filter((w) => w.desired === 'running')
        .map((w) => ({ name: w.name, generation: w.assignment?.generation ?? 0 }));
      store.reports.hear(aReport(node, { seq: now + 1, workloads }), now);
    }
    return playRun(sut, { now, token: 9 });
  };
  return {
    ...{ store, round },
    shown: () => movesView(plans.asOf(moves).fleet),
    of: (name: string) => store.workloads.content[name],
    job: () => store.jobs.content['j'],
    cordon: () => store.nodes.content['n-1']?.cordon,
    told: () => Object.values(store.alarms.content).map((a) => (a.cleared === undefined ? a.message : 'cleared')),
  };
}

describe('a node that is drained', () => {
  it('is empty although what left it has no place elsewhere, and not before its unit is gone', async () => {
    const left = { move: { cause: 'drain', from: 'n-1', to: 'n-2' }, held: 'No room.' };
    const { store, round, cordon, shown } = world({ nodes: { 'n-1': drain }, workloads: { a: left } });
    const stays = { name: 'a', generation: 1 };
    await round(0, ['n-1']);
    store.reports.hear(aReport('n-1', { seq: 5, workloads: [stays] }), 1_000);
    await round(1_000, ['n-1']);
    expect(shown()?.hindered).toEqual(new Map([['n-1', ['It reports a, assigned elsewhere.']]]));
    await round(2_000);
    expect([shown()?.hindered, cordon()?.drained]).toEqual([new Map(), expect.any(Number)]);
  });

  it('keeps its work running while another node, on which it may run as well, does not say so', async () => {
    const { store, round, of } = world({ nodes: { 'n-1': drain }, workloads: { a: on('n-1') } });
    store.nodes.set('n-3', aNode('n-3'));
    await round(0);
    expect(of('a')?.stop).toBeUndefined();
    store.reports.hear(aReport('n-3', { seq: 5, workloads: [] }), 1_000);
    await round(1_000);
    expect(of('a')?.stop).toMatchObject({ attempt: 0 });
  });

  it('keeps its work running while a dead node that named it last is not proven off, and somebody is told', async () => {
    const { store, round, of, shown, told } = world({ nodes: { 'n-1': drain } });
    store.nodes.set('n-3', aNode('n-3', { state: 'Disappeared' }));
    store.reports.hear(aReport('n-3', { seq: 5, workloads: [{ name: 'a', generation: 1 }] }), 0);
    store.incidents.set('n-3', anIncident('n-3', { phase: 'suppressed' }));
    store.workloads.set('a', aWorkload('a', on('n-1')));
    await round(20_000);
    await round(24_000);
    const why = 'a: n-3 named it last, and is not proven off.';
    expect([of('a')?.stop, shown()?.hindered]).toEqual([undefined, new Map([['n-1', [why]]])]);
    expect(told()).toEqual([`Its workloads cannot all be moved away. ${why}`]);
  });

  it('has its work moved away, and counts as drained once a full read shows nothing there', async () => {
    const { store, round, of, cordon } = world({ nodes: { 'n-1': drain }, workloads: { a: on('n-1') } });
    await round(0);
    expect(of('a')).toMatchObject({ move: { cause: 'drain', from: 'n-1', to: 'n-2' }, stop: { attempt: 0 } });
    store.workloads.set('a', aWorkload('a', { ...on('n-2'), generation: 9 }));
    // The view is behind: it was assigned there a moment ago.
    const late = { key: 'b', revision: 5, value: aWorkload('b', on('n-1')) };
    const { list } = store.workloads.bucket;
    store.workloads.bucket.list = async () => Promise.resolve([late]);
    await round(1_000);
    expect(cordon()).not.toHaveProperty('drained');
    store.workloads.bucket.list = list;
    await round(2_000);
    expect(cordon()?.drained).toBe(store.clock.wallMs());
  });

  it('is not drained by a cordon of before', async () => {
    const { store, round, cordon } = world({ nodes: { 'n-1': drain } });
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) => {
      store.nodes.set('n-1', aNode('n-1', { cordon: { by: 'eve', at: 7, reason: 'r', drain: true } }));
      return mutate(key, fn);
    };
    await round(0);
    expect(cordon()).not.toHaveProperty('drained');
  });

  it('is let go of what shall not run there, unless it runs again by then', async () => {
    const stopped = { ...on('n-1'), desired: 'stopped' as const };
    const { store, round, of } = world({ nodes: { 'n-1': drain }, workloads: { a: stopped, b: stopped } });
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      if (key === 'b') store.workloads.set('b', aWorkload('b', on('n-1')));
      return mutate(key, fn);
    };
    await round(0);
    expect([of('a')?.assignment, of('b')?.assignment?.node]).toEqual([undefined, 'n-1']);
  });

  it('is told of where it cannot be emptied, after a while', async () => {
    const { round, told } = world({ nodes: { 'n-1': drain, 'n-2': cordoned }, workloads: { a: on('n-1') } });
    await round(0);
    await round(2_999);
    expect(told()).toEqual([]);
    await round(3_000);
    expect(told()).toEqual([expect.stringMatching(/a: No room/)]);
  });

  it('is not looked at through a gap in a view, and its alarm stays', async () => {
    const { store, round, told, shown, of } = world({
      nodes: { 'n-1': drain, 'n-2': cordoned },
      workloads: { a: on('n-1') },
    });
    await round(0);
    await round(3_000);
    store.incidents.live = false;
    store.nodes.set('n-2', aNode('n-2'));
    store.workloads.set('b', aWorkload('b', { ...on('n-1'), desired: 'stopped' }));
    await round(4_000);
    expect([shown(), of('b')?.assignment?.node]).toEqual([undefined, 'n-1']);
    expect([of('a')?.move, told()]).toEqual([undefined, [expect.stringMatching(/No room/)]]);
    store.incidents.live = true;
    await round(5_000);
    await round(6_000);
    expect([of('a')?.move?.to, of('b')?.assignment, told()]).toEqual(['n-2', undefined, ['cleared']]);
  });

  it('holds up no other where a write of it fails', async () => {
    const { store, round, of } = world({ nodes: { 'n-1': drain }, workloads: { a: on('n-1') }, moving: ['x'] });
    store.jobs.bucket.mutate = async () => Promise.reject(new MusterError('TIMEOUT', 'no answer'));
    await expect(round(0)).rejects.toThrow('no answer');
    expect(of('a')?.move?.to).toBe('n-2');
  });
});

describe('a job that waits for an empty node', () => {
  const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 0 };
  const order: PowerOrder = { action: 'on', by: 'eve', reason: 'r', at: 0, after: 0 };
  /** @param stored of its node, of which the view shows nothing. @returns what it waits for then */
  const waitsFor = async (stored?: IncidentRecord): Promise<string[] | undefined> => {
    const { store, round, job } = world({ nodes: { 'n-1': { enrolled: false } }, moving: ['db'] });
    const entry = stored && { key: 'n-1', revision: 5, value: stored };
    store.incidents.bucket.get = async () => Promise.resolve(entry);
    await round(0);
    return job()?.moving;
  };

  it('does not begin while the incident of that, as read, is under way', async () => {
    expect(await waitsFor()).toEqual([]);
    expect(await waitsFor(anIncident('n-1', { phase: 'closed' }))).toEqual([]);
    expect(await waitsFor(anIncident('n-1', { phase: 'fencing' }))).toEqual(['db']);
  });

  it('nor while a power command of it may still take effect', async () => {
    expect(await waitsFor(anIncident('n-1', { phase: 'survived', commands: [off] }))).toEqual(['db']);
    expect(await waitsFor(anIncident('n-1', { phase: 'closed', order }))).toEqual(['db']);
  });

  it('does not begin over what was assigned there a moment ago', async () => {
    const { store, round, job } = world({ moving: ['db'] });
    const late = { key: 'b', revision: 5, value: aWorkload('b', on('n-1')) };
    store.workloads.bucket.list = async () => Promise.resolve([late]);
    await round(0);
    expect(job()?.moving).toEqual(['b']);
  });

  it('is called off where the node, as read, was powered off meanwhile', async () => {
    const { store, round, job } = world({ moving: ['db'] });
    const value = aNode('n-1', { confirmedOff: { at: 1, incident: 'i' } });
    store.nodes.bucket.get = async () => Promise.resolve({ key: 'n-1', revision: 5, value });
    await round(0);
    expect(job()).toMatchObject({ status: 'Errored', moving: ['db'], cancel: { by: 'muster' } });
  });

  it('is left alone once it does not wait any longer', async () => {
    const { store, round, job } = world({ moving: ['db'] });
    const { mutate } = store.jobs.bucket;
    store.jobs.bucket.mutate = async (key, fn) => {
      store.jobs.set('j', { ...(job() as JobRecord), cancel: { by: 'eve', at: 1 } });
      return mutate(key, fn);
    };
    await round(0);
    expect(job()).toMatchObject({ status: 'Queued', moving: ['db'] });
  });

  it('and is not free yet: that is told', async () => {
    const { store, round, job, told, shown } = world({ moving: ['db'] });
    store.incidents.set('n-1', anIncident('n-1', { phase: 'fencing' }));
    await round(0);
    await round(3_000);
    const why = 'It has an open incident.';
    const alarm = `Nothing is assigned to it any more, and it does not count as empty yet. ${why}`;
    expect([job()?.moving, told()]).toEqual([['db'], [alarm]]);
    expect(shown()?.hindered).toEqual(new Map([['n-1', [why]]]));
  });
});
