import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { AlarmRecord, IncidentPhase, NodeRecord, Report, WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler } from '../conductor/task.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { absences, absenceViews } from '../plan/absences.js';
import { AbsenceReconciler } from '../recovery/absence.reconciler.js';
import { GenerationFloor } from '../recovery/generation-floor.js';
import { WorkloadService } from '../recovery/workload.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode, anIncident, aReport, aWorkload } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3'];
const works = ['db', 'web', 'mq'];
const boots = fc.constantFrom('boot-n-1', 'boot-n-1', 'boot-n-1', 'boot-other');

/** @param odds of its being there to its lacking */
const maybe = <T>(a: fc.Arbitrary<T>, odds = 2): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: Math.ceil(20 * odds), arbitrary: a }, { weight: 20, arbitrary: fc.constant(undefined) });
const set = <K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, T>);

const workload = (name: string): fc.Arbitrary<WorkloadRecord> =>
  fc
    .record({
      at: fc.constantFrom('n-1', 'n-1', 'n-2', undefined),
      desired: fc.constantFrom(...Array<'running'>(9).fill('running'), 'stopped' as const),
      boot: maybe(boots, 5),
      start: maybe(fc.constant({ cause: 'put', attempt: 0 }), 0.05),
      stop: maybe(fc.constant({ cause: 'put', attempt: 0 }), 0.05),
      move: maybe(fc.constant({ cause: 'drain', from: 'n-1', to: 'n-2' }), 0.05),
      times: fc.constantFrom(0, 0, 1, 2, 3, 9),
    })
    .map(({ at, desired, boot, start, stop, move, times }) =>
      aWorkload(name, {
        ...{ desired, generation: 2 },
        ...set('assignment', at === undefined ? undefined : { node: at, generation: 2 }),
        ...{ ...set('boot', boot), ...set('start', start), ...set('stop', stop), ...set('move', move) },
        ...set('ended', times === 0 ? undefined : { times, at: 1 }),
      }),
    );

const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      verdict: fc.constantFrom('UP' as const, 'UP' as const, 'UP' as const, 'DEGRADED' as const, 'SUSPECT' as const),
      isGone: fc.constantFrom(false, false, false, true),
    })
    .map(({ verdict, isGone }) =>
      aNode(name, {
        ...{ bootId: 'boot-n-1', verdict: { verdict, networks: [], epoch: 1, seq: 1, at: 1 } },
        ...(isGone && { state: 'Disappeared' as const }),
      }),
    );

/** What a node says in one round; `undefined`: nothing. */
const said = maybe(
  fc.record({
    bootId: fc.constantFrom('boot-n-1', 'boot-n-1', 'boot-n-1', 'boot-other'),
    epoch: fc.constantFrom(1, 1, 1, 1, 2),
    workloads: maybe(
      fc
        .oneof(fc.subarray(works), fc.constant(works))
        .chain((on) =>
          fc.tuple(
            ...on.map((name) => fc.constantFrom(false, false, false, true).map((starting) => ({ name, starting }))),
          ),
        )
        .map((all) => all.map(({ name, starting }) => ({ name, generation: 2, ...(starting && { starting }) }))),
      9,
    ),
  }),
  9,
);

type Said = typeof said extends fc.Arbitrary<infer T> ? T : never;

interface Round {
  /** Since the one before, ms. */
  afterMs: number;
  /** What is said before it; `same`: as before it. */
  said: 'same' | Record<string, Said>;
  isGap: boolean;
  /** Somebody writes this record before it. */
  edit: WorkloadRecord | undefined;
}

interface World {
  nodes: NodeRecord[];
  workloads: WorkloadRecord[];
  incidents: { node: string; phase: IncidentPhase }[];
  alarms: AlarmRecord[];
  /** Before the first round. */
  said: Record<string, Said>;
  rounds: Round[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.subarray(names, { minLength: 2 }).chain((all) => fc.tuple(...all.map(node))),
  workloads: fc.tuple(...works.map(workload)),
  incidents: fc.array(
    fc.record({ node: fc.constant('n-2'), phase: fc.constantFrom('closed' as const, 'open' as const) }),
    { maxLength: 1 },
  ),
  alarms: fc.subarray(['db', 'gone']).map((subjects) =>
    subjects.map((subject) => ({
      ...{ code: 'workload-ended' as const, subject, severity: 'warning' as const, message: 'm', since: 1, count: 1 },
    })),
  ),
  said: fc.record({ 'n-1': said, 'n-2': said }),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(400, 6_000, 11_000, 61_000, 310_000, 610_000, 610_000),
      said: fc.oneof(
        { weight: 4, arbitrary: fc.constant('same' as const) },
        { weight: 1, arbitrary: fc.record({ 'n-1': said, 'n-2': said }) },
      ),
      isGap: fc.constantFrom(...Array<false>(14).fill(false), true),
      edit: maybe(fc.constantFrom(...works).chain(workload), 0.1),
    }),
    { minLength: 6, maxLength: 9 },
  ),
});

const defined = ({ workloads, ...rest }: NonNullable<Said>): Partial<Report> => ({
  ...rest,
  ...set('workloads', workloads),
});

/** Members that the round has given to workloads, and taken from them. */
function changes(before: Record<string, WorkloadRecord>, after: Record<string, WorkloadRecord>): string[] {
  return Object.entries(after).flatMap(([name, w]) => {
    const was = before[name] ?? w;
    const gone = Object.keys(was).filter((k) => !(k in w));
    const come = Object.keys(w).filter((k) => !(k in was));
    return [...gone.map((k) => `-${k}`), ...come.map((k) => `+${k}`)];
  });
}

/** A concern that acts, and what it says that it would do. */
type Make = (store: MemoryStore) => { reconciler: Reconciler; views: () => unknown };

/** Plays the rounds on a fleet. @returns all that stood in the store after each, and what was told */
async function play(
  w: World,
  make: Make,
): Promise<{ seen: object[]; told: string[]; logged: string[]; done: Set<string> }> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const x of w.workloads) store.workloads.set(x.name, x);
  for (const i of w.incidents) store.incidents.set(i.node, anIncident(i.node, { phase: i.phase }));
  for (const a of w.alarms) store.alarms.set(`${a.code}=${a.subject}`, a);
  const { reconciler, views } = make(store);
  const seen: object[] = [];
  const done = new Set<string>();
  let says = w.said;
  for (const [round, r] of w.rounds.entries()) {
    store.clock.now += r.afterMs;
    if (r.said !== 'same') says = r.said;
    for (const [name, s] of Object.entries(says))
      if (s !== undefined) store.reports.hear(aReport(name, { ...defined(s), seq: round + 1 }), store.clock.now);
    if (r.edit !== undefined) store.workloads.set(r.edit.name, r.edit);
    store.nodes.live = !r.isGap;
    const shown = [views()];
    const before = store.workloads.content;
    await playRun(reconciler, { now: store.clock.now, token: 9 });
    for (const what of changes(before, store.workloads.content)) done.add(what);
    seen.push([...shown, views(), store.workloads.content, store.alarms.content, store.jobs.content]);
  }
  return { seen, told: store.told.toSorted(), logged: store.logged.toSorted(), done };
}

function partsOf(store: MemoryStore) {
  const inventory = store.asStore;
  const context = { clock: store.clock, random: store.random, log: store.bus.log } as unknown as ServiceContext;
  const book = new ReservationBook(inventory);
  const workloads = new WorkloadService(inventory, new GenerationFloor(inventory), book, store.reports);
  const facts = new StartFactsService(inventory, store.reports);
  return { inventory, context, workloads, facts, alarms: new AlarmService(inventory) };
}

describe('a concern that is planned does what its reconciler did', () => {
  const all: Record<string, [Make, Make, string[]]> = {
    absences: [
      (store) => {
        const p = partsOf(store);
        const reconciler = new AbsenceReconciler(p.context, p.inventory, p.alarms, p.workloads, p.facts);
        return { reconciler, views: () => reconciler.preview() };
      },
      (store) => {
        const plans = planExecutor(store);
        const views = (): unknown => {
          const { fleet, ages } = plans.asOf(absences);
          return absenceViews(fleet, ages);
        };
        return { reconciler: plans.drive(absences), views };
      },
      ['+start', '+ended', '-ended', 'alarm'],
    ],
  };
  it.each(Object.entries(all))('%s', async (_name, [before, now, must]) => {
    const happened = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(worlds, async (w) => {
        const was = await play(w, before);
        expect(await play(w, now)).toEqual(was);
        for (const what of [...was.done, ...new Set(was.told.map((t) => t.split(' ')[0] ?? ''))])
          happened.set(what, (happened.get(what) ?? 0) + 1);
      }),
      { numRuns: runs(300) },
    );
    // A fleet in which nothing is to be done says nothing.
    expect(must.filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
  });
});
