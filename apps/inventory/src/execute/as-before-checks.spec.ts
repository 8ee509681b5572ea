import { expect, it } from 'vitest';
import fc from 'fast-check';
import {
  MusterError,
  PERIODIC,
  PERMITS_KEY,
  RESERVATIONS_KEY,
  type Hold,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { PeriodicCheckReconciler } from '../checks/periodic-check.reconciler.js';
import type { Reconciler } from '../conductor/task.js';
import { JobsService } from '../jobs/jobs.service.js';
import { ServiceView } from '../nodes/service-view.js';
import type { OperationsService, SystemCause } from '../operations/operations.service.js';
import { checksCalledOff, periodicChecks } from '../plan/checks/periodic-checks.js';
import { aJob } from '../testing/fixtures.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode, anIncident } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3', 'n-4'];
const anyName = fc.constantFrom(...names);
const rarely = fc.nat(5).map((n) => n === 0);
const at = fc.constantFrom(undefined, 1, 500_000, 999_000, 1_010_000, 2_000_000);

type Write = (store: MemoryStore) => void;

const nodeWrite = fc
  .record({
    name: anyName,
    gone: rarely,
    allocated: fc.nat(5).map((n) => n > 0),
    verdict: fc.constantFrom('UP' as const, 'UP' as const, 'UP' as const, 'DEGRADED' as const, 'SUSPECT' as const),
    cordoned: rarely,
    maintenance: rarely,
    last: at,
    provisioned: at,
    failed: fc.constantFrom(0, 0, 1, 3),
  })
  .map((d): Write => {
    const verdict: NodeRecord['verdict'] = {
      ...{ verdict: d.verdict, networks: d.verdict === 'DEGRADED' ? ['management'] : [], epoch: 1, seq: 1, at: 1 },
    };
    const node = aNode(d.name, {
      ...{ status: d.allocated ? 'Allocated' : 'Unallocated', enrolled: true, verdict },
      ...(d.cordoned && { cordon: { by: 'ann', at: 1, reason: 'r' } }),
      ...(d.maintenance && { maintenance: { reason: 'r', since: 1, by: 'm' } as never }),
      ...(d.last !== undefined && { lastCheck: { at: d.last, job: 'j', ok: true, failed: d.failed } as never }),
      ...(d.provisioned !== undefined && { provisioned: { checksum: 's', at: d.provisioned, job: 'j' } }),
    });
    return (store) => void store.nodes.set(d.name, d.gone ? undefined : node);
  });

const jobWrite = fc
  .record({
    id: fc.constantFrom('j-1', 'j-2', 'j-3'),
    node: anyName,
    status: fc.constantFrom<JobRecord['status']>('Queued', 'Queued', 'Running', 'Complete'),
    settled: fc.boolean(),
    cause: fc.constantFrom(PERIODIC, PERIODIC, 'return'),
    worker: fc.boolean(),
    cancelled: rarely,
    createdAt: fc.constantFrom(1, 900_000, 1_000_000, 3_000_000),
  })
  .map(({ id, node, worker, cancelled, ...d }): Write => {
    const job = aJob({
      ...{ id, kind: 'check', nodes: [node], ...d, settled: d.settled && d.status === 'Complete' },
      ...(worker && { worker: 'p' }),
      ...(cancelled && { cancel: { by: 'ann', at: 1 } }),
    });
    return (store) => void store.jobs.set(id, job);
  });

const holdWrite = fc
  .record({ node: anyName, by: fc.constantFrom('job', 'claim', 'edit', 'none') })
  .map(({ node, by }): Write => {
    const hold: Hold = { generation: 1, at: 1, ...(by !== 'none' && { [by]: 'x' }) };
    return (store) =>
      void store.reservations.set(RESERVATIONS_KEY, {
        held: by === 'none' ? {} : { ...store.held, [node]: hold },
        pending: {},
        generation: 1,
      });
  });

const trouble: fc.Arbitrary<Write> = fc.oneof(
  fc.nat(3).map(
    (n): Write =>
      (store) =>
        void store.permits.set(PERMITS_KEY, { granted: [], trips: n === 0 ? [{}] : [] } as never),
  ),
  fc.constantFrom('open' as const, 'fencing' as const, 'recovering' as const, 'closed' as const, 'closed' as const).map(
    (phase): Write =>
      (store) =>
        void store.incidents.set('n-4', anIncident('n-4', { phase })),
  ),
  fc.nat(3).map(
    (n): Write =>
      (store) =>
        void (store.detector.sees = n > 0),
  ),
  fc.nat(3).map(
    (n): Write =>
      (store) =>
        void (store.nodes.live = n > 0),
  ),
  fc.nat(3).map(
    (n): Write =>
      (store) =>
        void (store.workers.stale = n === 0),
  ),
);

const setting = fc.constantFrom(0, 60_000, 60_000, 1_000_000).map(
  (every): Write =>
    (store) =>
      void (store.clusterSettings.check.every = every),
);

const write = fc.oneof(
  { weight: 4, arbitrary: nodeWrite },
  { weight: 3, arbitrary: jobWrite },
  { weight: 1, arbitrary: holdWrite },
  { weight: 2, arbitrary: trouble },
  { weight: 1, arbitrary: setting },
);

const history = fc.record({
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(1_000, 30_000, 59_500, 60_000, 200_000),
      writes: fc.array(write, { maxLength: 4 }),
      refused: fc.subarray(names, { maxLength: 2 }),
      /** Happens between a request and what is decided on it. */
      meanwhile: fc.array(write, { maxLength: 1 }),
    }),
    { minLength: 4, maxLength: 10 },
  ),
  first: fc.array(nodeWrite, { minLength: 4, maxLength: 8 }),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

type Drive = (run: (r: Reconciler) => Promise<void>) => Promise<void>;

async function play(
  { rounds, first }: History,
  make: (store: MemoryStore, operations: OperationsService) => Drive,
): Promise<string[]> {
  const store = new MemoryStore();
  store.detector.sees = true;
  store.clusterSettings.check.every = 60_000;
  const seen: string[] = [];
  let refused: string[] = [];
  let meanwhile: Write[] = [];
  const submit = async (r: { kind: string; nodes?: string[] }, system: SystemCause): Promise<JobRecord> => {
    const [name = ''] = r.nodes ?? [];
    for (const w of meanwhile) w(store);
    meanwhile = [];
    const node = store.nodes.content[name];
    const isNeeded = node !== undefined && system.needs(node);
    const said = refused.includes(name) ? 'refused' : isNeeded ? 'accepted' : 'needless';
    seen.push(`${said} ${r.kind} of ${name} ${system.cause} ${system.check()}`);
    if (said !== 'accepted') throw new MusterError('NODE_RESERVED', said);
    const createdAt = store.clock.wallMs();
    const id = `job-${createdAt}-${name}`;
    const job = aJob({ id, kind: 'check', status: 'Queued', nodes: [name], cause: PERIODIC, createdAt });
    store.jobs.set(job.id, job);
    return Promise.resolve(job);
  };
  const drive = make(store, { submit } as unknown as OperationsService);
  for (const w of first) w(store);
  for (const round of rounds) {
    store.clock.now += round.afterMs;
    for (const w of round.writes) w(store);
    refused = round.refused;
    meanwhile = round.meanwhile;
    await drive((r) => playRun(r, { now: store.clock.now }));
    seen.push(JSON.stringify(store.jobs.content));
  }
  return [...seen, ...store.told];
}

const before = (store: MemoryStore, operations: OperationsService): Drive => {
  const old = new PeriodicCheckReconciler(
    store.asStore,
    new ServiceView(store.asStore, store.detector),
    operations,
    new JobsService(store.asStore, operations),
  );
  return (run) => run(old);
};

const planned = (store: MemoryStore, operations: OperationsService): Drive => {
  const executor = planExecutor(store, { operations });
  const [off, on] = [executor.drive(checksCalledOff), executor.drive(periodicChecks)];
  return async (run) => {
    await run(off);
    await run(on);
  };
};

it('periodic checks, which are planned, are begun and called off as their reconciler did', async () => {
  const must = ['accepted', 'refused', 'needless', 'cancelled by muster', '"worker":"p","cancel":{"by":"muster"'];
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(history, async (h) => {
      const was = await play(h, before);
      expect(await play(h, planned)).toEqual(was);
      const text = was.join('\n');
      for (const what of must) if (text.includes(what)) happened.set(what, (happened.get(what) ?? 0) + 1);
      if (was.filter((x) => x.startsWith('accepted')).length === 0)
        happened.set('none', (happened.get('none') ?? 0) + 1);
    }),
    { numRuns: runs(400) },
  );
  expect([...must, 'none'].filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
}, 300_000);
