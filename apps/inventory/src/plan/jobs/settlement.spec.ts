import { beforeEach, describe, expect, it } from 'vitest';
import { MusterError, RESERVATIONS_KEY, type JobRecord, type NodeRecord } from '#contracts';
import { aJob, aNode } from '../../testing/fixtures.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { jobSettlement } from './settlement.js';

/** Two nodes that a decommission has held, and that are what it has made of them only once it is settled. */
const ended = aJob({ kind: 'decommission', nodes: ['a-1', 'b-22'], worker: 'p-1' });
const hold = { job: 'job-1', generation: 1, at: 1 };

let store: MemoryStore;
let run: () => Promise<object[]>;
beforeEach(() => {
  store = new MemoryStore();
  for (const name of ended.nodes) store.nodes.set(name, aNode(name, { status: 'Cancelled' }));
  store.jobs.set('job-1', ended);
  store.reservations.set(RESERVATIONS_KEY, {
    ...{ held: { 'a-1': hold, 'b-22': { ...hold, claim: 'c' } }, pending: {}, generation: 1 },
  });
  const reconciler = planExecutor(store).drive(jobSettlement);
  run = async () => {
    const failed: object[] = [];
    await playRun(reconciler, { failed: (f) => failed.push(f) });
    return failed;
  };
});

const node = (name: string): NodeRecord | undefined => store.nodes.content[name];
const job = (): JobRecord | undefined => store.jobs.content['job-1'];
const lost = (): never => {
  throw new MusterError('TIMEOUT', 'no answer');
};

describe('an ended job', () => {
  it('leaves its nodes as it has made them, then free, and is settled then', async () => {
    expect(await run()).toEqual([]);
    expect(node('a-1')).toMatchObject({ status: 'Decommissioned', lastJob: 'job-1' });
    expect(node('b-22')).toMatchObject({ status: 'Decommissioned', lastJob: 'job-1' });
    expect(store.held).toEqual({ 'b-22': { claim: 'c', generation: 1, at: 1 } });
    const revisions = (await store.nodes.bucket.list()).map((e) => e.revision);
    expect(store.reservations.content[RESERVATIONS_KEY]?.nodesAt).toBe(Math.max(...revisions));
    expect(job()?.settled).toBe(true);
    const { told } = store;
    expect(told.toSorted()).toEqual(['node-status a-1', 'node-status b-22']);
  });

  it('holds its nodes for as long as one of them could not be written', async () => {
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) => (key === 'b-22' ? lost() : mutate(key, fn));
    expect(await run()).toMatchObject([{ job: 'job-1', code: 'TIMEOUT' }]);
    expect(node('a-1')?.lastJob).toBe('job-1');
    expect([Object.keys(store.held), job()?.settled]).toEqual([['a-1', 'b-22'], false]);
    store.nodes.bucket.mutate = mutate;
    const before = (await store.nodes.bucket.get('a-1'))?.revision;
    await run();
    expect((await store.nodes.bucket.get('a-1'))?.revision).toBe(before);
    expect([node('b-22')?.status, store.held['a-1'], job()?.settled]).toEqual(['Decommissioned', undefined, true]);
  });

  it('is done again where the reservations, or its own record, could not be written', async () => {
    for (const table of [store.reservations, store.jobs] as const) {
      const { update, mutate } = table.bucket;
      Object.assign(table.bucket, { update: lost, mutate: lost });
      await run();
      expect(job()?.settled).toBe(false);
      Object.assign(table.bucket, { update, mutate });
    }
    expect(Object.keys(store.held)).toEqual(['b-22']);
    await run();
    expect(job()?.settled).toBe(true);
  });

  it('does not touch a node again that has followed: a check that has failed once is not counted twice', async () => {
    const lastCheck = { at: 1, job: 'job-1', ok: false, step: 'check', failed: 1 };
    store.nodes.set('a-1', aNode('a-1', { lastJob: 'job-1', lastCheck }));
    store.jobs.set('job-1', { ...ended, kind: 'check' });
    await run();
    expect(node('a-1')?.lastCheck).toEqual(lastCheck);
    expect(node('b-22')?.lastCheck).toMatchObject({ job: 'job-1', failed: 1 });
  });

  it('leaves a node alone that it has freed: its result never replaces that of a later job', async () => {
    const pendingReturn = { reason: 'disappeared' as const, at: 1, held: 're-setup failed: disk full' };
    const maintenance = { reason: 're-setup failed: disk full', at: 1 };
    const left = { provisioned: { checksum: 'sum', at: 1, job: 'job-0' }, pendingReturn, maintenance };
    const halfSetUp = aNode('a-1', { status: 'Allocated', ...left, lastJob: 'job-2' });
    store.nodes.set('a-1', halfSetUp);
    const results = { 'a-1': { ok: true, step: 'check', check: { findings: [], checksum: 'sum' } } };
    for (const held of [{}, { 'a-1': { ...hold, job: 'job-2', generation: 2 } }]) {
      store.reservations.set(RESERVATIONS_KEY, { held, pending: {}, generation: 2 });
      store.jobs.set('job-1', { ...ended, kind: 'check', nodes: ['a-1'], status: 'Complete', results });
      expect(await run()).toEqual([]);
      expect(node('a-1')).toEqual(halfSetUp);
      expect([store.told, job()?.settled]).toEqual([[], true]);
    }
  });

  it('is told by the reservations as they are which nodes it has freed, where the view is behind', async () => {
    const served = aNode('a-1', { status: 'Allocated', lastJob: 'job-2' });
    store.nodes.set('a-1', served);
    store.jobs.set('job-1', { ...ended, kind: 'check', nodes: ['a-1'] });
    const { get } = store.reservations.bucket;
    store.reservations.bucket.get = async (key) => {
      const now = await get(key);
      return now && { ...now, value: { ...now.value, held: {} } };
    };
    await run();
    expect(node('a-1')).toEqual(served);
  });

  it('does not count a node as checked that was taken from it, since it died', async () => {
    const dead = aNode('a-1', { status: 'Allocated', pendingReturn: { reason: 'disappeared', at: 1 } });
    store.nodes.set('a-1', dead);
    store.nodes.set('b-22', aNode('b-22', { status: 'Allocated' }));
    store.reservations.set(RESERVATIONS_KEY, { held: { 'b-22': hold }, pending: {}, generation: 1 });
    const check = { findings: [], checksum: 'sum' };
    const results = { 'a-1': { ok: true, step: 'check', check }, 'b-22': { ok: true, step: 'check', check } };
    store.jobs.set('job-1', { ...ended, kind: 'check', status: 'Complete', results });
    await run();
    expect([node('a-1'), node('b-22')?.lastCheck?.job]).toEqual([dead, 'job-1']);
    expect(job()?.results['a-1']?.verdict).toMatchObject({ outcome: 'unknown', why: expect.stringContaining('died') });
    expect([store.told, store.held, job()?.settled]).toEqual([['check b-22'], {}, true]);
  });

  it('ends the status that it gave a node whose hold was lost: nobody else would', async () => {
    store.reservations.set(RESERVATIONS_KEY, undefined);
    await run();
    expect(node('a-1')).toMatchObject({ status: 'Decommissioned', lastJob: 'job-1' });
  });

  it('is carried into the record as it is, where somebody else has written it meanwhile', async () => {
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) => {
      await fn(await store.nodes.bucket.get(key));
      store.nodes.set(key, aNode(key, { status: 'Cancelled', label: 'renamed' }));
      return mutate(key, fn);
    };
    await run();
    expect(node('a-1')).toMatchObject({ status: 'Decommissioned', label: 'renamed' });
  });

  it('is held up by no node that was deleted meanwhile', async () => {
    store.nodes.set('a-1', undefined);
    expect(await run()).toEqual([]);
    expect([node('a-1'), node('b-22')?.lastJob, job()?.settled]).toEqual([undefined, 'job-1', true]);
    expect(store.logged).toEqual(['a node of an ended job was deleted meanwhile']);
  });

  it('is left alone while it runs, and once it is settled, also where the view is behind', async () => {
    store.jobs.set('job-1', { ...ended, status: 'Running' });
    await run();
    expect(node('a-1')?.lastJob).toBeUndefined();
    store.jobs.set('job-1', ended);
    store.jobs.bucket.read = async () =>
      Promise.resolve({ key: 'job-1', value: { ...ended, settled: true }, revision: 9 });
    await run();
    expect([node('a-1')?.lastJob, Object.keys(store.held)]).toEqual([undefined, ['a-1', 'b-22']]);
  });

  it('is told where no worker has told it', async () => {
    const { worker: _none, ...waited } = ended;
    store.jobs.set('job-1', { ...waited, status: 'Errored', cancel: { by: 'ann', at: 1 } });
    await run();
    expect(store.told).toContain('job job-1');
  });

  it('that has checked its nodes says what it has found', async () => {
    const check = { findings: [{ service: 'web', result: 'drift' as const, why: 'edited' }], checksum: 'sum' };
    const results = {
      'a-1': { ok: true, step: 'check', check },
      'b-22': { ok: false, step: 'check', message: 'no route' },
    };
    store.jobs.set('job-1', { ...ended, kind: 'check', results });
    await run();
    expect(Object.values(job()?.results ?? {}).map((r) => r.verdict)).toEqual([
      { outcome: 'drift', why: 'web drift (edited)' },
      { outcome: 'unknown', why: 'no route' },
    ]);
  });

  it('that has discovered brings back what answers at its address and has no agent', async () => {
    const at = (name: string, o: Partial<NodeRecord> = {}) =>
      aNode(name, { state: 'Disappeared', enrolled: false, ...o });
    store.nodes.set('a-1', at('a-1'));
    store.nodes.set('b-22', at('b-22'));
    store.nodes.set('c-333', at('c-333', { enrolled: true }));
    const addresses = ['10.0.0.3', '10.0.0.4', '10.0.0.5'];
    const results = Object.fromEntries(addresses.map((a) => [a, { ok: a !== '10.0.0.4', step: 'discover' }]));
    store.jobs.set('job-1', { ...ended, kind: 'discover', nodes: [], addresses, results });
    await run();
    expect(Object.values(store.nodes.content).map((n) => n.state)).toEqual([
      'Discovered',
      'Disappeared',
      'Disappeared',
    ]);
  });
});
