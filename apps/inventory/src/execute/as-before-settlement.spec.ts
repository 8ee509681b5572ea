import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import fc from 'fast-check';
import {
  JobKinds,
  MusterError,
  PERIODIC,
  RESERVATIONS_KEY,
  type JobRecord,
  type NodeRecord,
  type NodeResult,
  type Provisioned,
} from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import type { Reconciler } from '../conductor/task.js';
import { JobSettlementReconciler } from '../jobs/job-settlement.reconciler.js';
import { NodeService } from '../nodes/node.service.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { jobSettlement } from '../plan/jobs/settlement.js';
import { aJob, aNode } from '../testing/fixtures.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';

const names = ['n-1', 'n-22', 'n-333', 'n-4444'];

/** @param odds of its being there to its lacking */
const maybe = <T>(a: fc.Arbitrary<T>, odds = 1): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: Math.ceil(20 * odds), arbitrary: a }, { weight: 20, arbitrary: fc.constant(undefined) });
const set = <K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, T>);

const pending = fc
  .record({
    job: maybe(fc.constantFrom('job-1', 'job-2'), 3),
    reason: fc.constantFrom('rebooted' as const, 'disappeared' as const),
    held: maybe(fc.constant('drift'), 0.2),
    failedTries: maybe(fc.constant(2), 0.3),
  })
  .map(({ job, reason, held, failedTries }) => ({
    ...{ at: 5, reason },
    ...set('job', job),
    ...set('held', held),
    ...set('failedTries', failedTries),
  }));

const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      status: fc.constantFrom('Allocated', 'Allocated', 'Provisioning', 'Maintenance', 'Cancelled', 'Unallocated'),
      state: fc.constantFrom('Discovered', 'Disappeared'),
      enrolled: fc.boolean(),
      hostGroup: maybe(fc.constantFrom('service-worker', 'asked', 'only-checked'), 3),
      pendingReturn: maybe(pending),
      maintenance: maybe(fc.constant({ reason: 'fenced', at: 4 }), 0.4),
      lastJob: maybe(fc.constantFrom('job-1', 'job-0'), 0.4),
      provisioned: maybe(fc.constant<Provisioned>({ checksum: 'sum', at: 1, job: 'job-0', services: ['web'] }), 2),
    })
    .map(({ status, state, enrolled, hostGroup, pendingReturn, maintenance, lastJob, provisioned }) =>
      aNode(name, {
        ...({ status, state, enrolled } as Partial<NodeRecord>),
        ...set('hostGroup', hostGroup),
        ...set('pendingReturn', pendingReturn),
        ...set('maintenance', maintenance),
        ...set('lastJob', lastJob),
        ...set('provisioned', provisioned),
      }),
    );

const result: fc.Arbitrary<NodeResult> = fc
  .record({
    ok: fc.boolean(),
    step: fc.constantFrom('site', 'cleanup', 'check'),
    message: maybe(fc.constant('it broke')),
    unreachable: maybe(fc.constant(true as const), 0.3),
    found: maybe(fc.constantFrom('ok' as const, 'ok' as const, 'drift' as const, 'unknown' as const), 3),
    checksum: maybe(fc.constantFrom('sum', 'other'), 2),
  })
  .map(({ ok, step, message, unreachable, found, checksum }) => ({
    ...{ ok, step },
    ...set('message', message),
    ...set('unreachable', unreachable),
    ...set('check', found && { findings: [{ service: 'web', result: found, why: '' }], checksum: checksum ?? 'sum' }),
    ...set('checksum', checksum),
  }));

const job = (id: string, nodes: string[]): fc.Arbitrary<JobRecord> =>
  fc
    .record({
      kind: fc.constantFrom(...JobKinds, 'check' as const, 'resetup' as const),
      status: fc.constantFrom('Complete' as const, 'Complete' as const, 'Errored' as const, 'Running' as const),
      isSettled: fc.constantFrom(false, false, false, false, true),
      hasBegun: fc.constantFrom(true, true, false),
      worker: maybe(fc.constant('p-1'), 2),
      isCancelled: fc.constantFrom(false, false, true),
      cause: maybe(fc.constantFrom('return', PERIODIC)),
      results: fc.tuple(...names.map(() => maybe(result, 4))),
    })
    .map(({ kind, status, isSettled, hasBegun, worker, isCancelled, cause, results }) => {
      const { startedAt: _s, ...plain } = aJob({ id, kind, status, settled: isSettled });
      const addresses = names.map((n) => `10.0.0.${n.length}`);
      return {
        ...plain,
        nodes: kind === 'discover' ? [] : nodes,
        results: Object.fromEntries(
          results.flatMap((r, i) =>
            r === undefined ? [] : [[(kind === 'discover' ? addresses[i] : names[i]) ?? '', r]],
          ),
        ),
        ...(hasBegun && { startedAt: 2 }),
        ...set('worker', worker),
        ...set('cause', cause),
        ...(isCancelled && { cancel: { by: 'ann', at: 2 } }),
        ...(kind === 'discover' && { addresses }),
      };
    });

/** What goes wrong in one round. */
const round = fc.record({
  /** The first write of this fails, or its first event. */
  fails: maybe(
    fc.constantFrom(...names, 'job-1', 'job-2', RESERVATIONS_KEY, ...[...names, 'job-1'].map((n) => `${n}!`)),
  ),
  /** This node is written by somebody else between the read and the write. */
  overtaken: maybe(fc.constantFrom(...names), 0.4),
  deleted: maybe(fc.constantFrom(...names), 0.2),
});

const worlds = fc.record({
  nodes: fc.subarray(names, { minLength: 2 }).chain((all) => fc.tuple(...all.map(node))),
  jobs: fc.tuple(job('job-1', ['n-1', 'n-22']), job('job-2', ['n-333', 'n-4444'])),
  held: fc.tuple(
    ...names.map(() =>
      maybe(fc.constantFrom<object>({ job: 'job-1' }, { job: 'job-2', claim: 'c' }, { edit: 'e' }), 3),
    ),
  ),
  isPending: fc.boolean(),
  rounds: fc.tuple(round, round),
});
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

async function play(w: World, make: (store: MemoryStore) => Reconciler): Promise<object> {
  const store = new MemoryStore();
  store.clusterSettings.hostGroups.push(
    { name: 'asked', role: 'none', onReturn: 'ask' },
    { name: 'only-checked', role: 'none', onReturn: 'check-only' },
  );
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const j of w.jobs) store.jobs.set(j.id, j);
  const held = w.held.map((h, i) => [names[i], h && { generation: 1, at: 1, ...h }]).filter(([, h]) => h !== undefined);
  store.reservations.set(RESERVATIONS_KEY, {
    ...{ held: Object.fromEntries(held), generation: 3 },
    pending: w.isPending && w.jobs[0] ? { 'job-1': w.jobs[0] } : {},
  });
  const told: string[] = [];
  let fault: Partial<(typeof w.rounds)[number]> = {};
  const fail = (what: string): void => {
    if (fault.fails !== what) return;
    fault = { ...fault, fails: undefined };
    throw new MusterError('TIMEOUT', 'no answer');
  };
  const failing = <A extends unknown[], R>(fn: (key: string, ...a: A) => Promise<R>) => {
    return async (key: string, ...a: A): Promise<R> => {
      fail(key);
      return fn(key, ...a);
    };
  };
  const emit = async (kind: string, key: string, data: object, { id = '' }: { id?: string } = {}): Promise<void> => {
    fail(`${key}!`);
    told.push(JSON.stringify([kind, key, data, id.replace(/\.\d+\./, '.revision.')]));
    return Promise.resolve();
  };
  store.bus.emit = emit as unknown as typeof store.bus.emit;
  const { mutate } = store.nodes.bucket;
  store.nodes.bucket.mutate = failing(async (key, fn) => {
    if (key !== fault.overtaken) return mutate(key, fn);
    const seen = await store.nodes.bucket.get(key);
    await fn(seen);
    if (seen) store.nodes.set(key, { ...seen.value, pendingReturn: { reason: 'rebooted', at: 99 } });
    return mutate(key, fn);
  });
  store.jobs.bucket.mutate = failing(store.jobs.bucket.mutate);
  store.reservations.bucket.update = failing(store.reservations.bucket.update);
  const seen: unknown[] = [];
  const sut = make(store);
  for (const r of [...w.rounds, {}]) {
    fault = r;
    store.clock.now += 1000;
    if (fault.deleted !== undefined) store.nodes.set(fault.deleted, undefined);
    // How the others go on beside one that fails is another thing.
    const failed: object[] = [];
    await playRun(sut, { now: store.clock.now, failed: (f) => failed.push(f) });
    // What was under way beside it goes on.
    await setImmediate();
    const at = store.reservations.content[RESERVATIONS_KEY];
    const entries = await store.nodes.bucket.list();
    const newest = entries.filter((e) => e.revision === at?.nodesAt).map((e) => e.key);
    seen.push({ nodes: store.nodes.content, jobs: store.jobs.content, reservations: { ...at, nodesAt: newest } });
    seen.push({ failed: [...new Set(failed.map((f) => (f as { code: string }).code))] });
  }
  return { seen, told: told.toSorted(), logged: store.logged.toSorted() };
}

it('settles as its reconciler did', async () => {
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(w, (store) => {
        const inventory = store.asStore;
        return new JobSettlementReconciler(inventory, new NodeService(inventory), new ReservationBook(inventory));
      });
      const now = await play(w, (store) => planExecutor(store).drive(jobSettlement));
      expect(now).toEqual(was);
      for (const j of w.jobs) if (!j.settled) happened.set(j.kind, (happened.get(j.kind) ?? 0) + 1);
      for (const what of new Set(
        JSON.stringify(was).match(
          /"(verdict|hostGroupWas|failedTries|unreached)"|TIMEOUT|a node of|\\"in-service\\"|\\"resetup\\"|\\"node-state\\"|settled\\"/g,
        ),
      ))
        happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(400), seed: SEED },
  );
  expect([...happened.values()].every((n) => n > 10)).toBe(true);
});
