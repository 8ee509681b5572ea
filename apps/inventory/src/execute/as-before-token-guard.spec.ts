import { expect, it } from 'vitest';
import fc from 'fast-check';
import type { LeaseRecord } from '#bus';
import type { AlarmRecord, IncidentRecord, JobRecord, NodeRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler } from '../conductor/task.js';
import { TokenGuardReconciler } from '../conductor/token-guard.reconciler.js';
import { tokenGuard } from '../plan/token-guard.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode, anIncident } from '../testing/records.js';

const token = fc.constantFrom(1, 2, 3, 4);
const leaseNames = ['conductor', 'fencer', 'detector', 'job.j', 'toString'];

/** What somebody writes before a round. */
type Write = (store: MemoryStore) => void;
const writes: fc.Arbitrary<Write> = fc.oneof(
  ...Array<fc.Arbitrary<Write>>(2).fill(
    fc
      .record({ name: fc.constantFrom(...leaseNames), holder: fc.constantFrom('p-1', 'p-1', 'p-2', ''), token })
      .map(({ name, holder, token }): Write => {
        const lease: LeaseRecord = { holder, token, nonce: 'n', ttlMs: 5_000 };
        return (store) => void store.leases.set(name, lease);
      }),
  ),
  fc.constantFrom(...leaseNames).map(
    (name): Write =>
      (store) =>
        void store.leases.set(name, undefined),
  ),
  fc.record({ conductor: token, epoch: token, command: fc.option(token, { nil: undefined }) }).map((o): Write => {
    const command = { n: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 0 };
    const commands: IncidentRecord['commands'] = o.command === undefined ? [] : [{ ...command, epoch: o.command }];
    return (store) =>
      void store.incidents.set('n-1', anIncident('n-1', { conductor: o.conductor, epoch: o.epoch, commands }));
  }),
  fc.record({ conductor: token, outranked: fc.option(token, { nil: undefined }) }).map(
    (o): Write =>
      (store) =>
        void store.jobs.set('j', o as JobRecord),
  ),
  token.map((epoch): Write => {
    const verdict: NodeRecord['verdict'] = { verdict: 'UP', networks: [], epoch, seq: 1, at: 0 };
    return (store) => void store.nodes.set('n-2', aNode('n-2', { verdict }));
  }),
  fc.constantFrom('nodes' as const, 'incidents' as const, 'jobs' as const, 'leases' as const).map(
    (table): Write =>
      (store) =>
        void (store[table].live = !store[table].live),
  ),
);

const up = (subject: string): AlarmRecord => ({
  ...{ code: 'token-behind', subject, severity: 'critical', message: 'm', since: 1, count: 1 },
});

/** @returns the alarms after each round, and what was told */
async function play(
  rounds: Write[][],
  alarms: string[],
  make: (store: MemoryStore) => Reconciler | Promise<Reconciler>,
): Promise<{ seen: object[]; told: string[] }> {
  const store = new MemoryStore();
  for (const a of alarms.map(up)) store.alarms.set(`${a.code}=${a.subject}`, a);
  const reconciler = await make(store);
  const seen: object[] = [];
  for (const [i, writes] of rounds.entries()) {
    store.clock.now = (i + 1) * 1_000;
    for (const write of writes) write(store);
    await playRun(reconciler, { now: store.clock.now });
    seen.push(store.alarms.content);
  }
  return { seen, told: store.told.toSorted() };
}

async function before(store: MemoryStore): Promise<Reconciler> {
  const bucket = { view: async () => Promise.resolve(store.leases.view) };
  const bus = { bucket: () => bucket, clock: store.clock };
  const s = Object.create(store, { bus: { value: bus } }) as InventoryStore;
  const reconciler = new TokenGuardReconciler(s, new AlarmService(store.asStore));
  await reconciler.onApplicationBootstrap();
  return reconciler;
}

it('token-guard, which is planned, does what its reconciler did', async () => {
  const must = [...['conductor', 'fencer', 'detector'].map((l) => `"subject":"${l}"`), '"cleared"', '"count":2'];
  const happened = new Map<string, number>();
  const rounds = fc.array(fc.array(writes, { maxLength: 4 }), { minLength: 4, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(rounds, fc.subarray(['fencer', 'gone']), async (w, alarms) => {
      const was = await play(w, alarms, before);
      expect(await play(w, alarms, (store) => planExecutor(store).drive(tokenGuard))).toEqual(was);
      const text = JSON.stringify(was);
      for (const what of must) if (text.includes(what)) happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(300) },
  );
  // Leases that are all well say nothing.
  expect(must.filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
});
