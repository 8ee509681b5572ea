import { expect, it } from 'vitest';
import fc from 'fast-check';
import {
  FLAPPING,
  type AcceptedDrift,
  type AlarmRecord,
  type Finding,
  type LastCheck,
  type NodeRecord,
  type PendingReturn,
} from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { CheckAlarmsReconciler } from '../checks/check-alarms.reconciler.js';
import type { Reconciler } from '../conductor/task.js';
import { checkAlarmCodes, checkAlarms } from '../plan/check-alarms.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3'];
const maybe = <T>(a: fc.Arbitrary<T>, freq = 1): fc.Arbitrary<T | undefined> => fc.option(a, { nil: undefined, freq });
const defined = <T extends object>(o: T): T =>
  Object.fromEntries(Object.entries(o).filter(([, value]) => value !== undefined)) as T;

const finding: fc.Arbitrary<Finding> = fc.record({
  service: fc.constantFrom('web', 'db'),
  result: fc.constantFrom('ok' as const, 'drift' as const, 'drift' as const, 'broken' as const, 'unknown' as const),
  ...{ why: fc.constantFrom('', 'edited'), digest: fc.constant('d1') },
});

const lastCheck = fc
  .record({
    ...{ ok: fc.boolean(), findings: maybe(fc.array(finding, { maxLength: 2 }), 4) },
    checksum: fc.constantFrom('sum', 'sum', 'other'),
    ...{ failed: maybe(fc.constantFrom(1, 2, 3, 9)), unreachable: maybe(fc.constant(true)) },
    message: maybe(fc.constant('no route')),
  })
  .map(
    ({ findings, checksum, ...rest }): LastCheck =>
      defined({
        ...{ at: 5, job: 'job-1', step: 'check' },
        check: findings && { findings, checksum },
        ...rest,
      }) as LastCheck,
  );

const pendingReturn = fc
  .record({
    held: maybe(fc.constantFrom('drift: web', `${FLAPPING}: three returns`, 'resetup failed'), 1),
    failedTries: maybe(fc.constantFrom(1, 2, 3, 40)),
    failedWhy: maybe(fc.constant('web could not be checked')),
    unreached: maybe(fc.record({ tries: fc.constantFrom(1, 2, 3, 9), why: fc.constant('no route') }), 1),
  })
  .map((p): PendingReturn => defined({ reason: 'rebooted', at: 1, ...p }) as PendingReturn);

/** It may end while it is looked at. */
const acceptedDrift = fc
  .record({ until: maybe(fc.constantFrom(1_000_500, 1_002_000, 1_004_000), 4), result: fc.constant('drift' as const) })
  .map(
    ({ until, result }): AcceptedDrift =>
      defined({
        ...{ by: 'ann', reason: 'a trial', at: 6, check: 'job-1', checksum: 'sum', until },
        findings: ['', 'edited'].map((why) => ({ service: 'web', result, why, digest: 'd1' })),
      }) as AcceptedDrift,
  );

const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      status: fc.constantFrom('Allocated' as const, 'Allocated' as const, 'Decommissioned' as const),
      pendingReturn: fc.oneof(fc.constant(undefined), fc.constant(undefined), pendingReturn),
      lastCheck: maybe(lastCheck, 9),
      acceptedDrift: maybe(acceptedDrift, 4),
      provisioned: maybe(fc.constant({ checksum: 'sum', at: 1, job: 'job-0' }), 4),
    })
    .map((o) => aNode(name, defined(o) as Partial<NodeRecord>));

interface World {
  nodes: NodeRecord[];
  alarms: AlarmRecord[];
  /** Before each round somebody may write a record, or delete it. */
  rounds: { afterMs: number; edit: { name: string; is: NodeRecord | undefined } | undefined; isGap: boolean }[];
}

const alarm: fc.Arbitrary<AlarmRecord> = fc
  .record({
    code: fc.constantFrom(...checkAlarmCodes, 'duplicate' as const),
    subject: fc.constantFrom(...names, 'gone'),
    severity: fc.constantFrom('warning' as const, 'critical' as const),
    cleared: maybe(fc.constant(7)),
  })
  .map((a) => defined({ ...{ message: 'm', since: 1, count: 1 }, ...a }) as AlarmRecord);

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.subarray(names, { minLength: 1 }).chain((all) => fc.tuple(...all.map(node))),
  alarms: fc.array(alarm, { maxLength: 3 }),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(100, 1_000, 5_000),
      edit: maybe(
        fc.constantFrom(...names).chain((name) => fc.record({ name: fc.constant(name), is: maybe(node(name), 4) })),
      ),
      isGap: fc.constantFrom(false, false, true),
    }),
    { minLength: 2, maxLength: 6 },
  ),
});

/** @returns the alarms after each round, and what was told */
async function play(w: World, make: (store: MemoryStore) => Reconciler): Promise<{ seen: object[]; told: string[] }> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const a of w.alarms) store.alarms.set(`${a.code}=${a.subject}`, a);
  const reconciler = make(store);
  const seen: object[] = [];
  for (const r of w.rounds) {
    store.clock.now += r.afterMs;
    if (r.edit !== undefined) store.nodes.set(r.edit.name, r.edit.is);
    store.nodes.live = !r.isGap;
    await playRun(reconciler, { now: store.clock.now });
    seen.push(store.alarms.content);
  }
  return { seen, told: store.told.toSorted() };
}

it('check-alarms, which is planned, does what its reconciler did', async () => {
  const must = [...checkAlarmCodes.map((code) => `"${code}"`), 'What was accepted by', '"cleared":10'];
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(w, (store) => new CheckAlarmsReconciler(store.asStore, new AlarmService(store.asStore)));
      expect(await play(w, (store) => planExecutor(store).drive(checkAlarms))).toEqual(was);
      const text = JSON.stringify(was);
      for (const what of must) if (text.includes(what)) happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(300) },
  );
  // Nodes of which nothing is to be said say nothing.
  expect(must.filter((what) => (happened.get(what) ?? 0) <= 5)).toEqual([]);
});
