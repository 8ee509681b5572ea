import { expect, it } from 'vitest';
import fc from 'fast-check';
import type { AlarmRecord, Beacon, IncidentPhase, NodeRecord, VerdictKind, WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler } from '../conductor/task.js';
import { DeadWorkReconciler } from '../incidents/dead-work.reconciler.js';
import { deadWork } from '../plan/alarms/dead-work.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aBeacon, aNode, anIncident, aWorkload } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3'];
const maybe = <T>(a: fc.Arbitrary<T>, freq = 1): fc.Arbitrary<T | undefined> => fc.option(a, { nil: undefined, freq });

const verdicts: VerdictKind[] = ['UP', 'SUSPECT', 'DOWN', 'DOWN', 'DOWN', 'UNKNOWN'];
const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      verdict: fc.constantFrom(...verdicts),
      seq: fc.constantFrom(1, 5),
      isCordoned: fc.constantFrom(true, true, true, false),
      isOff: fc.constantFrom(false, false, false, true),
    })
    .map(({ verdict, seq, isCordoned, isOff }) =>
      aNode(name, {
        verdict: { verdict, networks: [], epoch: 1, seq, at: 1 },
        ...(isCordoned && { cordon: { reason: 'disk', by: 'eve', at: 1 } }),
        ...(isOff && { confirmedOff: { at: 1, incident: 'i' } }),
      }),
    );

const workload = (name: string): fc.Arbitrary<WorkloadRecord> =>
  fc
    .record({ at: maybe(fc.constantFrom(...names), 5), desired: fc.constantFrom('running', 'running', 'stopped') })
    .map(({ at, desired }) =>
      aWorkload(name, {
        ...{ desired: desired as 'running', priority: name.length },
        ...(at !== undefined && { assignment: { node: at, generation: 1 } }),
      }),
    );

const beacon: fc.Arbitrary<Beacon> = fc
  .record({ told: fc.subarray(names), verdict: fc.constantFrom(...verdicts), seq: fc.constantFrom(3, 9) })
  .map(({ told, ...notUp }) => aBeacon({ notUp: Object.fromEntries(told.map((name) => [name, notUp])) }));

interface World {
  nodes: NodeRecord[];
  workloads: WorkloadRecord[];
  incidents: { node: string; phase: IncidentPhase }[];
  alarms: AlarmRecord[];
  rounds: {
    afterMs: number;
    beacon: Beacon | undefined;
    node: NodeRecord | undefined;
    workload: WorkloadRecord | undefined;
    gap: 'nodes' | 'workloads' | 'incidents' | 'alarms' | undefined;
  }[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.subarray(names).chain((all) => fc.tuple(...all.map(node))),
  workloads: fc.tuple(...['db', 'web', 'mq-2'].map(workload)),
  incidents: fc.array(
    fc.record({ node: fc.constantFrom(...names), phase: fc.constantFrom('open' as const, 'closed' as const) }),
    { maxLength: 1 },
  ),
  alarms: fc.subarray([...names, 'gone']).map((subjects) =>
    subjects.map((subject) => ({
      ...{ code: 'dead-with-work' as const, subject, severity: 'critical' as const, message: 'm', since: 1, count: 1 },
    })),
  ),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(500, 1_000, 3_000),
      beacon: maybe(beacon, 4),
      node: maybe(fc.constantFrom(...names).chain(node)),
      workload: maybe(fc.constantFrom('db', 'web').chain(workload)),
      gap: fc.constantFrom(undefined, undefined, 'nodes', 'workloads', 'incidents', 'alarms'),
    }),
    { minLength: 2, maxLength: 8 },
  ),
});

/** @returns the alarms after each round, and what was told */
async function play(w: World, make: (store: MemoryStore) => Reconciler): Promise<{ seen: object[]; told: string[] }> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const x of w.workloads) store.workloads.set(x.name, x);
  for (const i of w.incidents) store.incidents.set(i.node, anIncident(i.node, { phase: i.phase }));
  for (const a of w.alarms) store.alarms.set(`${a.code}=${a.subject}`, a);
  const reconciler = make(store);
  const seen: object[] = [];
  for (const r of w.rounds) {
    store.clock.now += r.afterMs;
    if (r.beacon !== undefined) store.detector.hear(JSON.stringify(r.beacon));
    if (r.node !== undefined) store.nodes.set(r.node.name, r.node);
    if (r.workload !== undefined) store.workloads.set(r.workload.name, r.workload);
    for (const table of ['nodes', 'workloads', 'incidents', 'alarms'] as const) store[table].live = r.gap !== table;
    await playRun(reconciler, { now: store.clock.now });
    seen.push(store.alarms.content);
  }
  return { seen, told: store.told.toSorted() };
}

it('dead-work, which is planned, does what its reconciler did', async () => {
  const happened = { raised: 0, cleared: 0, stood: 0 };
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(w, (s) => new DeadWorkReconciler(s.asStore, new AlarmService(s.asStore), s.detector));
      expect(await play(w, (store) => planExecutor(store).drive(deadWork))).toEqual(was);
      const all = was.seen.flatMap((alarms) => Object.values(alarms as Record<string, AlarmRecord>));
      happened.raised += Number(all.some((a) => a.message.includes('Runs nowhere')));
      happened.cleared += Number(all.some((a) => a.cleared !== undefined));
      happened.stood += Number(all.some((a) => a.message === 'm' && a.cleared === undefined));
    }),
    { numRuns: runs(300) },
  );
  expect(Object.entries(happened).filter(([, times]) => times <= 20)).toEqual([]);
});
