import { expect, it } from 'vitest';
import fc from 'fast-check';
import {
  MOST_CONDITIONS,
  type AlarmRecord,
  type Beacon,
  type DetectorCondition,
  type NodeRecord,
  type VerdictKind,
} from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler } from '../conductor/task.js';
import { DetectionAlarmsReconciler } from '../monitor/detection-alarms.reconciler.js';
import { alarmsOfDetection } from '../plan/alarms/alarms-of-detection.js';
import { detectionAlarmCodes } from '../plan/alarms/detection-alarms.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aBeacon, aNode } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3'];
const maybe = <T>(a: fc.Arbitrary<T>, freq = 1): fc.Arbitrary<T | undefined> => fc.option(a, { nil: undefined, freq });
const defined = <T extends object>(o: T): T =>
  Object.fromEntries(Object.entries(o).filter(([, value]) => value !== undefined)) as T;

const verdicts: VerdictKind[] = [
  'UP',
  'UP',
  'DEGRADED',
  'DEGRADED',
  'DEGRADED',
  'SUSPECT',
  'DOWN',
  'LEFT',
  'UNKNOWN',
  'UNKNOWN',
];
const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      verdict: fc.constantFrom(...verdicts),
      networks: fc.subarray(['management', 'backend'], { minLength: 1 }),
      reason: fc.constantFrom('CONFLICT: two machines', 'blind', undefined),
      isCordoned: fc.constantFrom(false, false, false, true),
    })
    .map(({ verdict, networks, reason, isCordoned }) =>
      aNode(name, {
        ...(isCordoned && { cordon: { reason: 'disk', by: 'eve', at: 1 } }),
        verdict: {
          ...{ verdict, networks: verdict === 'DEGRADED' ? networks : [], epoch: 1, seq: 1, at: 1 },
          ...(reason !== undefined && { reason }),
        },
      }),
    );

const fallen = (name: string): NodeRecord =>
  aNode(name, { verdict: { verdict: 'DEGRADED', networks: ['backend'], epoch: 1, seq: 1, at: 1 } });

const condition = (subject: string): fc.Arbitrary<DetectorCondition> =>
  fc.record({
    code: fc.constantFrom('link-down' as const, 'partly-heard' as const, 'life-sign-weak' as const),
    ...{ subject: fc.constant(subject), severity: fc.constant('warning' as const), message: fc.constantFrom('a', 'b') },
  });
const many = Array.from({ length: MOST_CONDITIONS }, (_, n): DetectorCondition => {
  return { code: 'link-quality', subject: `m-${n}`, severity: 'warning', message: 'lossy' };
});
const beacon = fc
  .record({
    sighted: fc.boolean(),
    members: fc.constantFrom(0, 3, 3, 3),
    sightedReporters: fc.constantFrom(0, 1, 3),
    conditions: maybe(
      fc.oneof(
        { weight: 9, arbitrary: fc.subarray(names).chain((all) => fc.tuple(...all.map(condition))) },
        { weight: 1, arbitrary: fc.constant(many) },
      ),
      4,
    ),
  })
  .map((o) => aBeacon(defined(o) as Partial<Beacon>));

const alarm: fc.Arbitrary<AlarmRecord> = fc
  .record({
    code: fc.constantFrom(...detectionAlarmCodes, 'duplicate' as const),
    subject: fc.constantFrom(...names, 'gone', 'fleet', 'detector', 'backend'),
    severity: fc.constantFrom('warning' as const, 'critical' as const),
    cleared: maybe(fc.constant(7)),
  })
  .map((a) => defined({ ...{ message: 'm', since: 1, count: 1 }, ...a }) as AlarmRecord);

interface World {
  nodes: NodeRecord[];
  alarms: AlarmRecord[];
  rounds: {
    afterMs: number;
    /** What is heard right before it; undefined: nothing. */
    beacon: Beacon | undefined;
    edit: { name: string; is: NodeRecord | undefined } | undefined;
    /** Before it the network falls for two nodes. */
    isFall: boolean;
    gap: 'nodes' | 'alarms' | undefined;
  }[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.subarray(names, { minLength: 0 }).chain((all) => fc.tuple(...all.map(node))),
  alarms: fc.array(alarm, { maxLength: 4 }),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(400, 1_000, 1_000, 2_100, 5_000),
      beacon: maybe(beacon, 3),
      edit: maybe(
        fc.constantFrom(...names).chain((name) => fc.record({ name: fc.constant(name), is: maybe(node(name), 9) })),
      ),
      isFall: fc.constantFrom(false, false, false, true),
      gap: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 'nodes' as const, 'alarms' as const),
    }),
    { minLength: 3, maxLength: 12 },
  ),
});

/** @returns the alarms after each round, and what was told */
async function play(w: World, make: (store: MemoryStore) => Reconciler): Promise<{ seen: object[]; told: string[] }> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const a of w.alarms) store.alarms.set(`${a.code}=${a.subject}`, a);
  const reconciler = make(store);
  const seen: object[] = [];
  for (const [seq, r] of w.rounds.entries()) {
    store.clock.now += r.afterMs;
    if (r.beacon !== undefined) store.detector.hear(JSON.stringify({ ...r.beacon, seq }));
    if (r.isFall) for (const n of ['n-1', 'n-2']) store.nodes.set(n, fallen(n));
    if (r.edit !== undefined) store.nodes.set(r.edit.name, r.edit.is);
    store.nodes.live = r.gap !== 'nodes';
    store.alarms.live = r.gap !== 'alarms';
    await playRun(reconciler, { now: store.clock.now });
    seen.push(store.alarms.content);
  }
  return { seen, told: store.told.toSorted() };
}

/** Raised by it, or cleared by it. */
const become = ({ code, message, cleared }: AlarmRecord): string[] => [
  ...(message === 'm' ? [] : [`${code} raised`]),
  ...(cleared === undefined || cleared === 7 ? [] : [`${code} cleared`]),
];

it('detection-alarms, which is planned, does what its reconciler did', async () => {
  const codes = ['link-down', 'partly-heard', 'life-sign-weak', 'link-quality'];
  const must = [...codes, 'blind', 'detector-silent', 'network-down', 'node-degraded', 'conflict'];
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(
        w,
        (s) => new DetectionAlarmsReconciler(s.asStore, s.detector, new AlarmService(s.asStore)),
      );
      expect(await play(w, (store) => planExecutor(store).drive(alarmsOfDetection))).toEqual(was);
      const is = new Set(was.seen.flatMap((all) => Object.values(all as Record<string, AlarmRecord>)).flatMap(become));
      for (const what of is) happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(400) },
  );
  const all = must.flatMap((what) => ['raised', 'cleared'].map((is) => `${what} ${is}`));
  // A fleet of which nothing is to be said says nothing.
  expect(all.filter((what) => (happened.get(what) ?? 0) <= 3)).toEqual([]);
});
