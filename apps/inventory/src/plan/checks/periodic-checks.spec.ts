import { beforeEach, expect, it } from 'vitest';
import {
  MusterError,
  PERIODIC,
  PERMITS_KEY,
  RESERVATIONS_KEY,
  type Hold,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import type { OperationsService, SystemCause } from '../../operations/operations.service.js';
import { aJob } from '../../testing/fixtures.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode, anIncident } from '../../testing/records.js';
import type { Concern } from '../concern.js';
import { checksCalledOff } from './checks-called-off.js';
import { periodicChecks } from './periodic-checks.js';

const up: NodeRecord['verdict'] = { verdict: 'UP', networks: [], epoch: 1, seq: 1, at: 1 };
const serving = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { status: 'Allocated', enrolled: true, verdict: up, ...o });

let store: MemoryStore;
/** What is asked for; each request is refused that names one of these nodes. */
let asked: { node: string; system: SystemCause }[];
let refused: string[];
let begin: (afterMs?: number) => Promise<void>;
let callOff: () => Promise<void>;

beforeEach(() => {
  store = new MemoryStore();
  store.detector.sees = true;
  store.clusterSettings.check.every = 60_000;
  store.nodes.set('n-1', serving('n-1'));
  [asked, refused] = [[], []];
  const submit = async (r: { nodes?: string[] }, system: SystemCause): Promise<JobRecord> => {
    const [node = ''] = r.nodes ?? [];
    asked.push({ node, system });
    if (refused.includes(node)) throw new MusterError('NODE_RESERVED', 'somebody was faster');
    return Promise.resolve(aJob());
  };
  const executor = planExecutor(store, { operations: { submit: submit as OperationsService['submit'] } });
  const [on, off] = [executor.drive(periodicChecks), executor.drive(checksCalledOff)];
  begin = (afterMs = 0) => {
    store.clock.now += afterMs;
    return playRun(on, { now: store.clock.now });
  };
  callOff = () => playRun(off, { now: store.clock.now });
});

/** A node dies, or nobody sees the fleet any more. */
const faults: [string, () => void][] = [
  ['a storm stands', () => void store.permits.set(PERMITS_KEY, { granted: [], trips: [{}] } as never)],
  ['a node is fenced', () => void store.incidents.set('n-2', anIncident('n-2', { phase: 'fencing' }))],
  ['its work is recovered', () => void store.incidents.set('n-2', anIncident('n-2', { phase: 'recovering' }))],
  ['no detector is heard that sees the fleet', () => void (store.detector.sees = false)],
  ['a view has a gap', () => void (store.jobs.live = false)],
];

it.each(faults)('none begins, and what runs is called off, while %s', async (_what, makeFault) => {
  store.jobs.set(
    'j',
    aJob({ id: 'j', cause: PERIODIC, kind: 'check', nodes: ['n-1'], status: 'Running', worker: 'p' }),
  );
  await callOff();
  expect(store.jobs.content.j?.cancel).toBeUndefined();
  await begin();
  expect(asked).toHaveLength(1);
  makeFault();
  expect(asked[0]?.system.needs(serving('n-1'))).toBe(false);
  await begin();
  expect(asked).toHaveLength(1);
  await callOff();
  expect(store.jobs.content.j?.cancel).toMatchObject({ by: 'muster' });
});

it('one is needed only while its node serves as it is decided', async () => {
  await begin();
  const needs = (o: Partial<NodeRecord>): boolean | undefined => asked[0]?.system.needs(serving('n-1', o));
  expect([needs({}), needs({ cordon: { by: 'ann', reason: 'r', at: 1 } }), needs({ status: 'Unallocated' })]).toEqual([
    true,
    false,
    false,
  ]);
});

it('is called off where its node serves no more, or is gone; that of another cause is not, nor what has ended', async () => {
  const job = (id: string, o: Partial<JobRecord>): void =>
    void store.jobs.set(id, aJob({ id, cause: PERIODIC, kind: 'check', nodes: ['n-1'], status: 'Queued', ...o }));
  job('serves', {});
  job('away', { nodes: ['n-2'] });
  job('gone', { nodes: ['n-3'] });
  job('return', { nodes: ['n-2'], cause: 'return' });
  job('ended', { nodes: ['n-2'], status: 'Complete' });
  store.nodes.set('n-2', serving('n-2', { state: 'Disappeared' }));
  await callOff();
  const off = Object.values(store.jobs.content).filter((j) => j.cancel !== undefined);
  expect(off.map((j) => [j.id, j.status])).toEqual([
    ['away', 'Errored'],
    ['gone', 'Errored'],
  ]);
});

it('is left to go on where its node serves again by the time that it is written', async () => {
  store.jobs.set('j', aJob({ id: 'j', cause: PERIODIC, kind: 'check', nodes: ['n-1'], status: 'Queued' }));
  store.nodes.set('n-1', serving('n-1', { state: 'Disappeared' }));
  let wasPlanned = 0;
  const plan: Concern['plan'] = (fleet, ages) => {
    const planned = checksCalledOff.plan(fleet, ages);
    wasPlanned += planned.length;
    store.nodes.set('n-1', serving('n-1'));
    return planned;
  };
  const executor = planExecutor(store);
  await playRun(executor.drive({ plan }));
  expect([wasPlanned, store.jobs.content.j?.cancel]).toEqual([1, undefined]);
});

it('one that was refused lets others go first for a minute', async () => {
  store.clusterSettings.check.every = 4_000;
  store.nodes.set('n-2', serving('n-2'));
  refused = ['n-1'];
  const round = async (afterMs: number): Promise<string[]> => {
    asked = [];
    await begin(afterMs);
    return asked.map((a) => a.node);
  };
  expect(await round(0)).toEqual(['n-1']);
  expect(await round(59_999)).toEqual(['n-2']);
  expect(await round(1)).toEqual(['n-1']);
  refused = [];
  expect(await round(60_000)).toEqual(['n-1']);
  expect(await round(1)).toEqual(['n-1']);
});

it('one that has ended and is not settled counts as one that runs', async () => {
  for (const id of ['a', 'b'])
    store.jobs.set(id, aJob({ id, cause: PERIODIC, kind: 'check', nodes: ['n-9'], status: 'Complete', createdAt: 1 }));
  await begin();
  expect(asked).toEqual([]);
  store.jobs.set(
    'a',
    aJob({ id: 'a', cause: PERIODIC, kind: 'check', status: 'Complete', settled: true, createdAt: 1 }),
  );
  await begin();
  expect(asked).toHaveLength(1);
});

const ofMany = { job: 'j', kind: 'check' as const, generation: 1, at: 1 };
const holding = (hold: Hold) =>
  store.reservations.set(RESERVATIONS_KEY, { held: { 'n-1': ofMany, 'n-2': hold }, pending: {}, generation: 1 });

it.each(['fencing', 'fenced', 'recovering'] as const)(
  'what dies in a check of an operator is free once its incident is %s, and the check goes on with the others',
  async (phase) => {
    holding({ ...ofMany, claim: 'c' });
    store.jobs.set('j', aJob({ id: 'j', kind: 'check', nodes: ['n-1', 'n-2'], status: 'Running', worker: 'p' }));
    store.incidents.set('n-2', anIncident('n-2', { phase }));
    await callOff();
    expect(store.held).toEqual({ 'n-1': ofMany, 'n-2': { claim: 'c', generation: 1, at: 1 } });
    expect(store.jobs.content.j?.cancel).toBeUndefined();
  },
);

it.each(['investigating', 'suppressed', 'failed', 'recovered', 'closed', 'survived', 'cancelled'] as const)(
  'a node is left to its check while its incident is %s',
  async (phase) => {
    holding(ofMany);
    store.incidents.set('n-2', anIncident('n-2', { phase }));
    await callOff();
    expect(store.held['n-2']).toEqual(ofMany);
  },
);

it('a node that dies is left to any job but a check', async () => {
  const setUp = { ...ofMany, kind: 'resetup' as const };
  holding(setUp);
  store.incidents.set('n-2', anIncident('n-2', { phase: 'fencing' }));
  await callOff();
  expect(store.held['n-2']).toEqual(setUp);
});

it('what another job holds by then, or whose incident is over by then, is not freed', async () => {
  holding(ofMany);
  store.incidents.set('n-2', anIncident('n-2', { phase: 'fencing' }));
  const { update } = store.reservations.bucket;
  const now = await store.reservations.bucket.get(RESERVATIONS_KEY);
  const other = { ...ofMany, job: 'k' };
  store.reservations.bucket.get = async () =>
    Promise.resolve(now && { ...now, value: { ...now.value, held: { 'n-2': other } } });
  let wasWritten = false;
  store.reservations.bucket.update = async (...x: Parameters<typeof update>) => ((wasWritten = true), update(...x));
  await callOff();
  store.reservations.bucket.get = async () => Promise.resolve(now);
  const { get } = store.incidents.bucket;
  store.incidents.bucket.get = async (key) => {
    const found = await get(key);
    return found && { ...found, value: anIncident('n-2', { phase: 'survived' }) };
  };
  await callOff();
  expect(wasWritten).toBe(false);
});
