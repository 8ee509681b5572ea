import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  PERIODIC,
  RESERVATIONS_KEY,
  type AlarmRecord,
  type ClaimRecord,
  type Hold,
  type JobRecord,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import { DuplicateAlarmsReconciler } from '../agents/duplicate-alarms.reconciler.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { ClaimExpiryReconciler } from '../claims/claim-expiry.reconciler.js';
import { ClaimsService } from '../claims/claims.service.js';
import type { Reconciler } from '../conductor/task.js';
import { JobRetentionReconciler } from '../jobs/job-retention.reconciler.js';
import { CordonEndReconciler } from '../nodes/cordon-end.reconciler.js';
import { NodeService } from '../nodes/node.service.js';
import type { ServiceView } from '../nodes/service-view.js';
import { VerdictRetentionReconciler } from '../node-state/verdict-retention.reconciler.js';
import { OrphanHoldsReconciler } from '../operations/orphan-holds.reconciler.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { claimExpiry } from '../plan/claim-expiry.js';
import { cordonEnd } from '../plan/cordon-end.js';
import { duplicateAlarms } from '../plan/duplicate-alarms.js';
import { jobRetention } from '../plan/job-retention.js';
import { orphanHoldsEnd } from '../plan/orphan-holds.js';
import { verdictRetention } from '../plan/verdict-retention.js';
import type { Concern } from '../plan/concern.js';
import type { AuditService } from '../store/audit.service.js';
import { aJob } from '../testing/fixtures.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode } from '../testing/records.js';

const NOW = 1_000_000;
const nodeNames = fc.constantFrom('n-1', 'n-2', 'n-3');
const wall = fc.integer({ min: NOW - 40_000, max: NOW + 40_000 });

const nodes: fc.Arbitrary<NodeRecord> = fc
  .record({ name: nodeNames, until: fc.option(wall, { nil: undefined }), cordoned: fc.boolean(), job: jobIds() })
  .map(({ name, until, cordoned, job }) =>
    aNode(name, {
      ...(cordoned && { cordon: { reason: 'r', by: 'eve', at: 1, ...(until !== undefined && { until }) } }),
      provisioned: { job } as NonNullable<NodeRecord['provisioned']>,
    }),
  );

function jobIds(): fc.Arbitrary<string> {
  return fc.constantFrom('j-1', 'j-2', 'j-3', 'j-4');
}

const jobs: fc.Arbitrary<JobRecord[]> = fc
  .record({ many: fc.constantFrom(0, 549, 551, 700), own: fc.nat(90) })
  .map(({ many, own }) =>
    Array.from({ length: many }, (_, i) =>
      aJob({
        id: `j-${i}`,
        createdAt: (i * 7) % 500,
        settled: i % 11 !== 0,
        ...(i % 17 === 0 && { status: 'Running' as const }),
        ...(i < own && { cause: PERIODIC }),
      }),
    ),
  );

const alarms: fc.Arbitrary<AlarmRecord> = fc
  .record({
    code: fc.constantFrom('duplicate' as const, 'drift' as const),
    subject: fc.oneof(nodeNames, fc.constant('gone')),
    since: fc.constantFrom(NOW - 90_000_000, NOW - 5),
    acknowledged: fc.option(fc.constant({ by: 'eve', at: 1 }), { nil: undefined }),
    cleared: fc.option(fc.constant(3), { nil: undefined }),
  })
  .map(({ acknowledged, cleared, ...a }) => ({
    ...a,
    severity: 'warning',
    message: 'm',
    count: 1,
    ...(acknowledged && { acknowledged }),
    ...(cleared !== undefined && { cleared }),
  }));

const reservations: fc.Arbitrary<Reservations> = fc
  .record({
    held: fc.dictionary(
      nodeNames,
      fc.record({
        job: fc.option(fc.oneof(jobIds(), fc.constant('lost')), { nil: undefined }),
        claim: fc.option(fc.constantFrom('c-1', 'c-2'), { nil: undefined }),
        kind: fc.constantFrom('check', 'commission', 'decommission', 'discover', 'recover', undefined),
      }),
    ),
    claims: fc.array(
      fc.record({ id: fc.constantFrom('c-1', 'c-2'), at: wall, expiresAt: fc.option(wall), pending: fc.boolean() }),
    ),
    pending: fc.subarray(['lost', 'j-1']),
  })
  .map(({ held, claims, pending }) => ({
    generation: 7,
    held: Object.fromEntries(
      Object.entries(held).map(([node, h]) => [
        node,
        JSON.parse(JSON.stringify({ ...h, generation: 1, at: 5 })) as Hold,
      ]),
    ),
    claims: Object.fromEntries(
      claims.map(({ id, at, expiresAt, pending: p }) => [
        id,
        {
          ...{ id, owner: 'o', nodes: ['n-1'], by: 'eve', at },
          ...(expiresAt !== null && { expiresAt }),
          ...(p && { pending: true }),
        } as ClaimRecord,
      ]),
    ),
    pending: Object.fromEntries(pending.map((id) => [id, aJob({ id })])),
  }));

interface World {
  nodes: NodeRecord[];
  jobs: JobRecord[];
  alarms: AlarmRecord[];
  reservations: Reservations | undefined;
  gaps: string[];
  events: { bytes: number; verdicts: number[] };
  /** Between two rounds: a lease is renewed. */
  renewed: boolean[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.array(nodes, { maxLength: 3 }),
  jobs,
  alarms: fc.array(alarms, { maxLength: 4 }),
  reservations: fc.option(reservations, { nil: undefined }),
  gaps: fc.subarray(['nodes', 'jobs', 'workloads', 'alarms', 'reservations'], { maxLength: 1 }),
  events: fc.record({
    bytes: fc.constantFrom(0, 600_000, 900_000),
    verdicts: fc.array(fc.nat(400), { maxLength: 4 }),
  }),
  renewed: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
});

type Make = (store: MemoryStore, parts: Parts) => Reconciler;

interface Parts {
  nodes: NodeService;
  audit: AuditService;
  claims: ClaimsService;
  alarms: AlarmService;
}

/** Plays some rounds on a fleet. @returns all that stands in the store then, and what was told */
async function play(w: World, make: Make): Promise<object> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const j of w.jobs) store.jobs.set(j.id, j);
  for (const a of w.alarms) store.alarms.set(`${a.code}=${a.subject}`, a);
  if (w.reservations !== undefined) store.reservations.set(RESERVATIONS_KEY, w.reservations);
  store.events = {
    bytes: w.events.bytes,
    messages: w.events.verdicts.reduce((a, b) => a + b, 0),
    mostBytes: 1_000_000,
    verdicts: new Map(w.events.verdicts.map((n, i) => [`n-${i}`, n])),
  };
  const inventory = store.asStore;
  const audit = {
    of: async (by: string, action: string, subject: string, detail: string, act: () => Promise<unknown>) => {
      store.told.push(`${by} ${action} ${subject} ${detail}`);
      return act();
    },
  } as unknown as AuditService;
  const claims = new ClaimsService(inventory, new ReservationBook(inventory), {} as ServiceView);
  const sut = make(store, { nodes: new NodeService(inventory), audit, claims, alarms: new AlarmService(inventory) });
  const seen: object[] = [];
  for (const [round, renewed] of w.renewed.entries()) {
    const isGap = round % 2 === 0;
    for (const gap of w.gaps) store[gap as 'nodes'].live = !isGap;
    if (renewed) store.leases.set('job.lost', {});
    store.clock.now = round * 16_000;
    await playRun(sut, { now: store.clock.now, token: 9 });
    seen.push([store.nodes, store.jobs, store.alarms, store.reservations].map((t) => t.content));
  }
  return { seen, told: store.told.toSorted(), logged: store.logged.toSorted() };
}

const planned =
  (concern: Concern<string>): Make =>
  (store) =>
    planExecutor(store).drive(concern);

describe('a concern that is planned does what its reconciler did', () => {
  const all: Record<string, [Make, Make]> = {
    'cordon-end': [(s, p) => new CordonEndReconciler(s.asStore, p.nodes, p.audit), planned(cordonEnd)],
    'claim-expiry': [(s, p) => new ClaimExpiryReconciler(s.asStore, p.claims), planned(claimExpiry)],
    'job-retention': [(s) => new JobRetentionReconciler(s.asStore), planned(jobRetention)],
    'verdict-retention': [(s) => new VerdictRetentionReconciler(s.asStore), planned(verdictRetention)],
    'orphan-holds': [(s) => new OrphanHoldsReconciler(s.asStore), planned(orphanHoldsEnd)],
    'duplicate-alarms': [(s, p) => new DuplicateAlarmsReconciler(s.asStore, p.alarms), planned(duplicateAlarms)],
  };
  it.each(Object.entries(all))('%s', async (_name, [before, now]) => {
    let acted = 0;
    await fc.assert(
      fc.asyncProperty(worlds, async (w) => {
        const was = await play(w, before);
        expect(await play(w, now)).toEqual(was);
        const untouched = await play(w, () => ({ reconcile: async () => Promise.resolve() }));
        if (JSON.stringify(was) !== JSON.stringify(untouched)) acted += 1;
      }),
      { numRuns: 60 },
    );
    // A fleet in which nothing is to be done says nothing.
    expect(acted).toBeGreaterThan(5);
  });
});
