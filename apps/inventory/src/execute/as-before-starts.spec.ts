import { expect, it } from 'vitest';
import fc from 'fast-check';
import {
  RESERVATIONS_KEY,
  type Hold,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Report,
  type WorkloadRecord,
} from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { Settling } from '../conductor/settling.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { recoverJob } from '../plan/workloads/recover-job.js';
import { startSteps, type StartStep } from '../plan/workloads/start-steps.js';
import { starts } from '../plan/workloads/starts.js';
import { Contradictions } from '../recovery/contradictions.js';
import { GenerationFloor } from '../recovery/generation-floor.js';
import { RecoverJobs } from '../recovery/recover-jobs.service.js';
import { WorkloadReconciler } from '../recovery/workload.reconciler.js';
import { WorkloadService } from '../recovery/workload.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { MemoryStore } from '../testing/memory-store.js';
import { fleetSource, planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode, anIncident, aReport, aWorkload } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3', 'n-4'];
const works = ['a', 'b', 'c', 'd', 'e'];
const often = <T>(many: number, usual: T, ...rest: T[]): fc.Arbitrary<T> =>
  fc.constantFrom(...Array<T>(many).fill(usual), ...rest);
const set = <K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, T>);

const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      what: often(12, 'well', 'cordoned', 'returned', 'returned', 'gone', 'off', 'foreign', 'suspect', 'new'),
      capacity: often(2, 9, 2, 1, 0),
      reserve: often(4, false, true),
    })
    .map(({ what, capacity, reserve }) =>
      aNode(name, {
        vars: { capacity, recovery_reserve: reserve },
        verdict: { verdict: what === 'suspect' ? 'SUSPECT' : 'UP', networks: [], epoch: 1, seq: 1, at: 1 },
        ...(what === 'cordoned' && { cordon: { by: 'ann', at: 1, reason: 'r' } }),
        ...(what === 'returned' && { pendingReturn: { reason: 'rebooted' as const, at: 1 } }),
        ...(what === 'gone' && { state: 'Disappeared' as const }),
        ...(what === 'off' && { state: 'Disappeared' as const, confirmedOff: { at: 1, incident: 'i' } }),
        ...(what === 'foreign' && { enrolled: false }),
        ...(what === 'new' && { status: 'Unallocated' as const }),
      }),
    );

const causes = ['unassigned', 'reboot:boot-n-1', 'reboot:boot-new', 'ended', 'ended', 'run-again', 'put'];

/** @param generation of what is written now: it only grows */
const workload = (name: string, generation: number): fc.Arbitrary<WorkloadRecord> =>
  fc
    .record({
      stage: often(3, 'owed', 'unplaced', 'unplaced', 'starting', 'starting', 'running', 'leaving', 'stopped'),
      at: often(3, 'n-1', 'n-2', 'n-3'),
      cause: fc.constantFrom(...causes),
      attempt: often(4, 0, 1, 3),
      job: fc.constantFrom('there', 'lost'),
      held: often(3, undefined, 'because'),
      boot: fc.constantFrom(undefined, 'own', 'own', 'old'),
      moved: often(4, undefined, 'n-1', 'n-2'),
      failedOn: often(4, undefined, 'n-2'),
      weight: fc.constantFrom(1, 1, 2),
      priority: fc.constantFrom(0, 0, 1),
    })
    .map(({ stage, at, cause, attempt, job, held, boot, moved, failedOn, weight, priority }) => {
      const from = moved ?? 'n-1';
      const isAt = stage !== 'unplaced';
      const node = stage === 'leaving' ? from : at;
      return aWorkload(name, {
        ...{ generation, weight, priority, desired: stage === 'stopped' ? 'stopped' : 'running' },
        ...(isAt && { assignment: { node, generation } }),
        ...set('boot', boot === 'own' ? `boot-${node}` : boot),
        ...(stage === 'owed' && { start: { cause, attempt } }),
        ...(stage === 'starting' && { start: { cause, attempt, job: `${job}-${at}-${cause}` } }),
        ...(stage === 'leaving' && { stop: { cause: 'move:drain', attempt, why: 'w' } }),
        ...set('held', stage === 'starting' ? undefined : held),
        ...((stage === 'leaving' || (moved !== undefined && stage !== 'stopped')) && {
          move: { cause: 'drain', from, to: 'n-3' },
        }),
        ...set('failedOn', failedOn === undefined ? undefined : [{ node: failedOn, at: 1_000_000 }]),
      });
    });

const incident = fc
  .record({
    node: fc.constantFrom('n-1', 'n-2', 'n-4'),
    phase: fc.constantFrom('recovering', 'recovering', 'recovered', 'fenced', 'open', 'closed', 'failed'),
    bootId: often(2, 'own', 'boot-new'),
    state: fc.constantFrom('waiting' as const, 'running' as const),
    of: fc.subarray(works, { maxLength: 2 }),
  })
  .map(({ node, phase, bootId, state, of }): IncidentRecord => {
    const recovery = of.map((name) => ({ workload: name, from: node, state }));
    return anIncident(node, {
      ...{
        id: `i-${node}`,
        phase: phase as IncidentRecord['phase'],
        bootId: bootId === 'own' ? `boot-${node}` : bootId,
      },
      recovery,
      ...(phase === 'failed' && { contradiction: { at: 1, devices: '', recovery } }),
    });
  });

const hold = fc.constantFrom<Hold>(
  { generation: 1, at: 1, claim: 'c' },
  { generation: 1, at: 1, job: 'j' },
  { generation: 1, at: 1, edit: 'e' },
);

const run = (name: string): fc.Arbitrary<{ name: string; generation: number; starting?: true; gated?: boolean }> =>
  fc
    .record({
      generation: fc.constantFrom(1, 2, 100, 200),
      starting: often(4, false, true),
      gated: often(3, true, false),
    })
    .map(({ generation, starting, gated }) => ({
      name,
      generation,
      gated,
      ...(starting && { starting: true as const }),
    }));

/** What a node says in one round; undefined: nothing. */
const said = fc.option(
  fc.record({
    bootId: often(6, 'own', 'boot-new'),
    workloads: fc.option(
      often(9, 0, 0.1, 0.1, 0.3, 0.6).chain((share) =>
        fc
          .tuple(...works.map((name) => fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), run(name))))
          .map((all) => all.filter(([x]) => x < share).map(([, r]) => r)),
      ),
      { nil: undefined, freq: 20 },
    ),
  }),
  { nil: undefined, freq: 16 },
);
type Said = typeof said extends fc.Arbitrary<infer T> ? T : never;
const allSaid = fc.record(Object.fromEntries(names.map((name) => [name, said])) as Record<string, typeof said>);

interface Round {
  afterMs: number;
  said: 'same' | Record<string, Said>;
  isGap: boolean;
  isSighted: boolean;
  workersStale: boolean;
  token: number;
  edit: WorkloadRecord | undefined;
  node: NodeRecord | undefined;
  incident: IncidentRecord | undefined;
  hold: { node: string; hold: Hold } | undefined;
  /** What comes of jobs that have not ended: 'lost' ones are deleted. */
  end: 'none' | 'started' | 'failed' | 'silent' | 'seen' | 'lost';
}

interface World {
  nodes: NodeRecord[];
  workloads: WorkloadRecord[];
  incidents: IncidentRecord[];
  alarms: string[];
  said: Record<string, Said>;
  rounds: Round[];
}

const some = <T>(a: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: freq, arbitrary: a }, { weight: 10 - freq, arbitrary: fc.constant(undefined) });

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.tuple(...names.map(node)),
  workloads: fc.tuple(...works.map((name) => workload(name, 2))),
  incidents: fc.array(incident, { maxLength: 1 }),
  alarms: fc.subarray(['no-room=a', 'workload-held=b', 'conflict-workload=c', 'workload-held=gone']),
  said: allSaid,
  rounds: fc.integer({ min: 6, max: 9 }).chain((many) =>
    fc.tuple(
      ...Array.from({ length: many }, (_, round) =>
        fc.record({
          afterMs: fc.constantFrom(300, 300, 900, 1_600, 2_800, 3_100, 6_200, 10_500, 31_000),
          said: fc.oneof({ weight: 4, arbitrary: fc.constant('same' as const) }, { weight: 2, arbitrary: allSaid }),
          isGap: often(14, false, true),
          isSighted: often(14, true, false),
          workersStale: often(14, false, true),
          token: often(9, 9, 10),
          edit: some(
            fc.constantFrom(...works).chain((name) => workload(name, 100 * (round + 1))),
            2,
          ),
          node: some(fc.constantFrom(...names).chain(node), 2),
          incident: some(incident, 1),
          hold: some(fc.record({ node: fc.constantFrom(...names), hold }), 1),
          end: fc.constantFrom('none' as const, 'none', 'started', 'failed', 'silent', 'seen', 'lost'),
        }),
      ),
    ),
  ),
});

function endJobs(store: MemoryStore, end: Round['end']): void {
  if (end === 'none') return;
  for (const job of Object.values(store.jobs.content))
    if (end === 'lost') store.jobs.set(job.id, undefined);
    else if (job.status === 'Queued') store.jobs.set(job.id, ended(job, end));
}

function ended(job: JobRecord, end: Round['end']): JobRecord {
  const ok = end === 'started';
  const status = ok ? 'Complete' : 'Errored';
  if (end === 'silent') return { ...job, status, error: 'the playbook is broken' };
  const seen = end === 'seen' ? { seen: 400 } : {};
  const own = (job.recover ?? []).map((r) => [r.workload, { started: ok, reason: ok ? '' : 'refused', ...seen }]);
  const result = { ok, step: 'recover', workloads: Object.fromEntries(own) };
  return { ...job, status, results: { [job.nodes[0] ?? '']: result } } as JobRecord;
}

/** Each process names its jobs by chance: here by their order. */
function named(text: string, ids: Map<string, string>): string {
  return text.replaceAll(/\bid-\d+\b/g, (id) => {
    const name = ids.get(id) ?? `job-${ids.size}`;
    ids.set(id, name);
    return name;
  });
}

const shown = ({ workload: w, do: does, why, to, leftMs }: Omit<StartStep, 'held'>): object => ({
  ...{ workload: w.name, does, why, leftMs },
  // The one before told of each by itself, and acted on all of them at once.
  to: does === 'elsewhere' ? undefined : to,
});

type Make = (store: MemoryStore) => { reconciler: Reconciler; views: () => Omit<StartStep, 'held'>[] };

interface Played {
  seen: object[];
  told: string[];
  logged: string[];
  /** Steps, with what stands against them, and changes. */
  done: string[];
}

async function play(w: World, make: Make): Promise<Played> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const x of w.workloads) store.workloads.set(x.name, x);
  for (const i of w.incidents) store.incidents.set(i.node, i);
  for (const x of w.workloads)
    if (x.start?.job?.startsWith('there') === true && store.jobs.content[x.start.job] === undefined)
      store.jobs.set(
        x.start.job,
        recoverJob(
          x.start.job,
          {
            ...{ node: x.assignment?.node ?? '', cause: x.start.cause },
            workloads: w.workloads.filter((y) => y.start?.job === x.start?.job),
          },
          8,
          1,
        ),
      );
  for (const key of w.alarms) {
    const [code, subject] = key.split('=');
    store.alarms.set(key, { code, subject, severity: 'critical', message: 'm', since: 1, count: 1 } as never);
  }
  const { reconciler, views } = make(store);
  const seen: object[] = [];
  const done: string[] = [];
  const ids = new Map<string, string>();
  let says = w.said;
  for (const [round, r] of w.rounds.entries()) {
    store.clock.now += r.afterMs;
    if (r.said !== 'same') says = r.said;
    for (const [name, s] of Object.entries(says))
      if (s !== undefined) {
        const bootId = s.bootId === 'own' ? `boot-${name}` : s.bootId;
        const o = { bootId, seq: round + 1, epoch: round + 1, ...set('workloads', s.workloads) } as Partial<Report>;
        store.reports.hear(aReport(name, o), store.clock.now);
      }
    endJobs(store, r.end);
    if (r.edit !== undefined) store.workloads.set(r.edit.name, r.edit);
    if (r.node !== undefined) store.nodes.set(r.node.name, r.node);
    if (r.incident !== undefined) store.incidents.set(r.incident.node, r.incident);
    if (r.hold !== undefined)
      store.reservations.set(RESERVATIONS_KEY, { held: { [r.hold.node]: r.hold.hold }, pending: {}, generation: 1 });
    store.nodes.live = !r.isGap;
    store.detector.sighted = r.isSighted;
    store.workers.stale = r.workersStale;
    const before = views();
    const told = store.told.length;
    await playRun(reconciler, { now: store.clock.now, token: r.token });
    for (const s of before) done.push([s.do, s.code].filter(Boolean).join(' '));
    const text = (x: unknown): string => named(JSON.stringify(x), ids);
    const content = text([before.map(shown), views().map(shown), store.workloads.content]);
    const jobs = Object.values(store.jobs.content).map(text).toSorted();
    seen.push([
      content.split('},'),
      jobs,
      store.alarms.content,
      store.told
        .slice(told)
        .map((t) => named(t, ids))
        .toSorted(),
    ]);
    for (const t of store.told.slice(told)) done.push(t.split(' ')[0] ?? '');
  }
  return { seen, told: [], logged: store.logged.toSorted(), done: [...done, ...store.logged] };
}

/** The one before counted from the last look in a gap: up to a round earlier than from the first after it. */
class SinceFirstLook extends Settling {
  override hasSettled(c: Pick<TaskRun, 'token' | 'now'>, live: boolean, all: boolean): boolean {
    if (!live) Object.assign(this, { term: undefined, known: false });
    return live && super.hasSettled(c, live, all);
  }
}

function before(store: MemoryStore): ReturnType<Make> {
  const inventory = store.asStore;
  const context = { clock: store.clock, random: store.random, log: store.bus.log } as unknown as ServiceContext;
  const facts = new StartFactsService(inventory, store.reports);
  facts.onModuleInit();
  const reconciler = new WorkloadReconciler(
    context,
    inventory,
    new AlarmService(inventory),
    new WorkloadService(inventory, new GenerationFloor(inventory), new ReservationBook(inventory), store.reports),
    facts,
    fleetSource(store),
    new RecoverJobs(inventory),
    new Contradictions(inventory, store.reports),
  );
  Object.assign(reconciler, { settling: new SinceFirstLook() });
  return { reconciler, views: () => reconciler.preview() };
}

function planned(store: MemoryStore): ReturnType<Make> {
  const plans = planExecutor(store);
  return {
    reconciler: plans.drive(starts),
    views: () => {
      const { fleet, ages } = plans.asOf(starts);
      return startSteps(fleet, ages);
    },
  };
}

/** Each has been met. */
const met = [
  'place',
  'no-room',
  'start',
  'follow',
  'correct RUNS_ELSEWHERE',
  'hold BARRED',
  'hold RUNS_ON_THE_DEAD',
  'hold OUT_OF_SERVICE',
  'elsewhere OUT_OF_SERVICE',
  'wait OUT_OF_SERVICE',
  'wait SILENT',
  'wait RETRY',
  'wait JUST_LEFT',
  'wait RUNS_AS_ORDERED',
  'workload',
  'job',
  'alarm',
  'workload placed',
  'workload was seen running elsewhere: registry corrected',
];

it('what a plan of the starts does is what their reconciler did', async () => {
  const done = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const [was, is] = [await play(w, before), await play(w, planned)];
      for (const what of is.done) done.set(what, (done.get(what) ?? 0) + 1);
      expect([is.seen, is.logged]).toEqual([was.seen, was.logged]);
    }),
    { numRuns: runs(600) },
  );
  for (const what of met) expect([what, (done.get(what) ?? 0) > 0]).toEqual([what, true]);
});
