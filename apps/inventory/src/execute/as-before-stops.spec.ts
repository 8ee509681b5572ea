import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { AlarmRecord, IncidentPhase, JobRecord, NodeRecord, Report, WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler } from '../conductor/task.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { stops, stopViews } from '../plan/stops.js';
import { stopJob } from '../plan/recover-job.js';
import { GenerationFloor } from '../recovery/generation-floor.js';
import { RecoverJobs } from '../recovery/recover-jobs.service.js';
import { StopReconciler } from '../recovery/stop.reconciler.js';
import { WorkloadService } from '../recovery/workload.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode, anIncident, aReport, aWorkload } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3'];
const works = ['db', 'web', 'mq'];

/** @param odds of its being there to its lacking */
const maybe = <T>(a: fc.Arbitrary<T>, odds = 2): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: Math.ceil(20 * odds), arbitrary: a }, { weight: 20, arbitrary: fc.constant(undefined) });
const set = <K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, T>);

/** @param generation of what is written now: it only grows */
const workload = (name: string, generation: number): fc.Arbitrary<WorkloadRecord> =>
  fc
    .record({
      at: fc.constantFrom('n-1', 'n-1', 'n-2', undefined),
      desired: fc.constantFrom('running' as const, 'running' as const, 'stopped' as const),
      driver: fc.constantFrom('ansible' as const, 'ansible' as const, 'ansible' as const, 'event' as const),
      stop: maybe(
        fc.record({
          attempt: fc.constantFrom(0, 0, 1, 3),
          job: maybe(fc.constantFrom(`there-${name}`, `lost-${name}`), 0.5),
        }),
        4,
      ),
      moves: fc.constantFrom(true, true, true, false),
    })
    .map(({ at, desired, driver, stop, moves }) => {
      const owed = at !== undefined && stop !== undefined && (desired === 'stopped' || moves) ? stop : undefined;
      return aWorkload(name, {
        ...{ desired, generation, recovery: { driver, spec: {} } },
        ...set('assignment', at === undefined ? undefined : { node: at, generation }),
        ...set(
          'stop',
          owed && {
            cause: 'put',
            attempt: owed.attempt,
            ...set('job', owed.job),
          },
        ),
        ...set(
          'move',
          moves && owed && desired === 'running' ? { cause: 'drain', from: at ?? '', to: 'n-3' } : undefined,
        ),
      });
    });

/** What comes of a job that has not ended. */
type End = Partial<JobRecord['results'][string]> | string;
const stopped: End = { ok: true, workloads: { own: { started: false, stopped: true, reason: '' } } };
const ends = fc.constantFrom<End[]>(
  ...Array<End>(8).fill(stopped),
  { ok: false, workloads: { own: { started: false, stopped: false, reason: 'it still runs' } } },
  { ok: false, workloads: { own: { started: false, reason: '' } } },
  { ok: false, workloads: { own: { started: false, reason: 'STALE', seen: 40 } } },
  { ok: false, message: 'unreachable' },
  { ok: true },
  'the playbook is broken',
  '',
);

const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      verdict: fc.constantFrom('UP' as const, 'UP' as const, 'UP' as const, 'DEGRADED' as const, 'SUSPECT' as const),
      isGone: fc.constantFrom(false, false, false, true),
    })
    .map(({ verdict, isGone }) =>
      aNode(name, {
        ...{
          bootId: 'boot-n-1',
          verdict: { verdict, networks: [], epoch: 1, seq: 1, at: 1 },
        },
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
        .oneof(fc.subarray(works), fc.constant(works), fc.constant(works))
        .chain((on) =>
          fc.tuple(
            ...on.map((name) => fc.constantFrom(false, false, false, true).map((starting) => ({ name, starting }))),
          ),
        )
        .map((all) =>
          all.map(({ name, starting }) => ({
            name,
            generation: 2,
            ...(starting && { starting }),
          })),
        ),
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
  /** Jobs of these end so before it; their records are `lost`. */
  ends: Record<string, End | undefined>;
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
  workloads: fc.tuple(...works.map((name) => workload(name, 2))),
  incidents: fc.array(
    fc.record({
      node: fc.constant('n-2'),
      phase: fc.constantFrom('closed' as const, 'open' as const),
    }),
    { maxLength: 1 },
  ),
  alarms: fc.subarray(['db', 'gone']).map((subjects) =>
    subjects.map((subject) => ({
      ...{
        code: 'workload-ended' as const,
        subject,
        severity: 'warning' as const,
        message: 'm',
        since: 1,
        count: 1,
      },
    })),
  ),
  said: fc.record({ 'n-1': said, 'n-2': said }),
  rounds: fc.integer({ min: 6, max: 9 }).chain((many) =>
    fc.tuple(
      ...Array.from({ length: many }, (_, round) =>
        fc.record({
          afterMs: fc.constantFrom(400, 400, 900, 1_600, 2_800, 3_100, 31_000),
          said: fc.oneof(
            { weight: 4, arbitrary: fc.constant('same' as const) },
            { weight: 1, arbitrary: fc.record({ 'n-1': said, 'n-2': said }) },
          ),
          isGap: fc.constantFrom(...Array<false>(9).fill(false), true),
          edit: maybe(
            fc.constantFrom(...works).chain((name) => workload(name, 100 * (round + 1))),
            0.1,
          ),
          ends: fc.record({
            db: maybe(ends),
            web: maybe(ends),
            mq: maybe(fc.constant('lost' as const), 0.2),
          }),
        }),
      ),
    ),
  ),
});

/** Of every job that stops this workload, and has not ended. */
function endJobs(store: MemoryStore, workload: string, end: End): void {
  for (const job of Object.values(store.jobs.content)) {
    if (job.recover?.[0]?.workload !== workload) continue;
    if (end === 'lost') store.jobs.set(job.id, undefined);
    else if (job.status === 'Queued') store.jobs.set(job.id, ended(job, workload, end));
  }
}

function ended(job: JobRecord, workload: string, end: End): JobRecord {
  if (typeof end === 'string') return { ...job, status: 'Errored', error: end };
  const { workloads, ...rest } = end;
  const own = workloads?.['own'];
  const result = {
    ok: false,
    step: 'recover',
    ...rest,
    ...set('workloads', own && { [workload]: own }),
  };
  return {
    ...job,
    status: result.ok ? 'Complete' : 'Errored',
    results: { [job.nodes[0] ?? '']: result },
  };
}

/** Each process names its jobs by chance: here by their order. */
function named(text: string, names: Map<string, string>): string {
  return text.replaceAll(/\bid-\d+\b/g, (id) => {
    const name = names.get(id) ?? `job-${names.size}`;
    names.set(id, name);
    return name;
  });
}

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
    const why = w.stop?.why === was.stop?.why ? [] : (w.stop?.why ?? []);
    return [...gone.map((k) => `-${k}`), ...come.map((k) => `+${k}`)].concat(why);
  });
}

/** A concern that acts, and what it says that it would do. */
type Make = (store: MemoryStore) => {
  reconciler: Reconciler;
  views: () => unknown;
};

/** Plays the rounds on a fleet. @returns all that stood in the store after each, and what was told */
async function play(
  w: World,
  make: Make,
): Promise<{
  seen: object[];
  told: string[];
  logged: string[];
  done: Set<string>;
}> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const x of w.workloads) store.workloads.set(x.name, x);
  for (const i of w.incidents) store.incidents.set(i.node, anIncident(i.node, { phase: i.phase }));
  for (const x of w.workloads) {
    const job = x.stop?.job?.startsWith('there') === true ? stopJob(x.stop.job, x, 8, 1) : undefined;
    if (job !== undefined) store.jobs.set(job.id, job);
  }
  for (const a of w.alarms) store.alarms.set(`${a.code}=${a.subject}`, a);
  const { reconciler, views } = make(store);
  const seen: object[] = [];
  const done = new Set<string>();
  const ids = new Map<string, string>();
  let says = w.said;
  for (const [round, r] of w.rounds.entries()) {
    store.clock.now += r.afterMs;
    if (r.said !== 'same') says = r.said;
    for (const [name, s] of Object.entries(says))
      if (s !== undefined) store.reports.hear(aReport(name, { ...defined(s), seq: round + 1 }), store.clock.now);
    for (const [name, end] of Object.entries(r.ends)) if (end !== undefined) endJobs(store, name, end);
    if (r.edit !== undefined) store.workloads.set(r.edit.name, r.edit);
    store.nodes.live = !r.isGap;
    const shown = [views()];
    const before = store.workloads.content;
    await playRun(reconciler, { now: store.clock.now, token: 9 });
    for (const what of changes(before, store.workloads.content)) done.add(what);
    // By what its workload names it, each job is found again.
    const text = (x: unknown): string => named(JSON.stringify(x), ids);
    const content = text([...shown, views(), store.workloads.content, store.alarms.content]);
    seen.push([content, Object.values(store.jobs.content).map(text).toSorted()]);
  }
  const told = store.told.map((t) => named(t, ids)).toSorted();
  return { seen, told, logged: store.logged.toSorted(), done };
}

function partsOf(store: MemoryStore) {
  const inventory = store.asStore;
  const context = {
    clock: store.clock,
    random: store.random,
    log: store.bus.log,
  } as unknown as ServiceContext;
  const book = new ReservationBook(inventory);
  const workloads = new WorkloadService(inventory, new GenerationFloor(inventory), book, store.reports);
  const facts = new StartFactsService(inventory, store.reports);
  return {
    inventory,
    context,
    workloads,
    facts,
    alarms: new AlarmService(inventory),
  };
}

describe('a concern that is planned does what its reconciler did', () => {
  const all: Record<string, [Make, Make, string[]]> = {
    stops: [
      (store) => {
        const p = partsOf(store);
        const jobs = new RecoverJobs(p.inventory);
        const reconciler = new StopReconciler(p.context, p.inventory, p.workloads, p.facts, jobs);
        return { reconciler, views: () => reconciler.preview() };
      },
      (store) => {
        const plans = planExecutor(store);
        const views = (): unknown => {
          const { fleet, ages } = plans.asOf(stops);
          return stopViews(fleet, ages);
        };
        return { reconciler: plans.drive(stops), views };
      },
      ['+stop', '-stop', '-assignment', 'job', 'workload', 'It was read back as stopped, and is reported still.'],
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
