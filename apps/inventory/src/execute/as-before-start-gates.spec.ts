import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { AlarmRecord, NodeRecord, RunningWorkload } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler } from '../conductor/task.js';
import { NodeService } from '../nodes/node.service.js';
import { startGates } from '../plan/start-gates.js';
import { StartFactsService } from '../reports/start-facts.js';
import { StartGatesReconciler } from '../start-gates/start-gates.reconciler.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode, aReport } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3'];
const works = ['db', 'mq', 'web'];

const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc.subarray(works).map((ungated) => aNode(name, { ...(ungated.length > 0 && { ungated }) }));

/** What a node says in one round; undefined: nothing. `list` undefined: it does not know what runs there. */
const said = fc.option(
  fc.record({
    list: fc.option(
      fc
        .subarray([...works])
        .chain((on) =>
          fc.tuple(...on.map((name) => fc.constantFrom(true, false, undefined).map((gated) => ({ name, gated })))),
        ),
      { nil: undefined, freq: 6 },
    ),
  }),
  { nil: undefined, freq: 4 },
);
type Said = typeof said extends fc.Arbitrary<infer T> ? T : never;

interface Round {
  afterMs: number;
  said: Said[];
  isGap: boolean;
  /** Somebody writes this record before it; undefined: he deletes it. */
  edit: { name: string; is: NodeRecord | undefined } | undefined;
}

interface World {
  nodes: NodeRecord[];
  alarms: string[];
  rounds: Round[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.subarray(names, { minLength: 1 }).chain((all) => fc.tuple(...all.map(node))),
  alarms: fc.subarray([...names, 'gone']),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(100, 900, 1_100, 5_000),
      said: fc.tuple(...names.map(() => said)),
      isGap: fc.constantFrom(...Array<false>(6).fill(false), true),
      edit: fc.option(
        fc
          .constantFrom(...names)
          .chain((name) =>
            fc.record({ name: fc.constant(name), is: fc.option(node(name), { nil: undefined, freq: 3 }) }),
          ),
        { nil: undefined, freq: 1 },
      ),
    }),
    { minLength: 3, maxLength: 7 },
  ),
});

const alarm = (subject: string): AlarmRecord => ({
  ...{ code: 'workload-ungated', subject, severity: 'warning', message: 'm', since: 1, count: 1 },
});

type Make = (store: MemoryStore) => Reconciler;

const list = (all: readonly { name: string; gated: boolean | undefined }[]): RunningWorkload[] =>
  all.map(({ name, gated }) => ({ name, generation: 1, ...(gated !== undefined && { gated }) }));

/** Plays the rounds on a fleet. @returns all that stood in the store after each, and what was told */
async function play(w: World, make: Make): Promise<{ seen: object[]; told: string[]; logged: string[] }> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  for (const a of w.alarms.map(alarm)) store.alarms.set(`${a.code}=${a.subject}`, a);
  const reconciler = make(store);
  const seen: object[] = [];
  for (const [round, r] of w.rounds.entries()) {
    store.clock.now += r.afterMs;
    for (const [i, s] of r.said.entries())
      if (s !== undefined) {
        const report = aReport(names[i] ?? '', { seq: round + 1, ...(s.list && { workloads: list(s.list) }) });
        store.reports.hear(report, store.clock.now);
      }
    if (r.edit !== undefined) store.nodes.set(r.edit.name, r.edit.is);
    store.nodes.live = !r.isGap;
    await playRun(reconciler, { now: store.clock.now });
    seen.push({ nodes: store.nodes.content, alarms: store.alarms.content });
  }
  return { seen, told: store.told.toSorted(), logged: store.logged.toSorted() };
}

const before: Make = (store) => {
  const s = store.asStore;
  return new StartGatesReconciler(s, new NodeService(s), new AlarmService(s), new StartFactsService(s, store.reports));
};

describe('a concern that is planned does what its reconciler did', () => {
  it('start-gates', async () => {
    const happened = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(worlds, async (w) => {
        const was = await play(w, before);
        expect(await play(w, (store) => planExecutor(store).drive(startGates))).toEqual(was);
        const text = was.seen.map((s) => JSON.stringify(s));
        for (const [what, is] of [
          ['changed', new Set(text).size > 1],
          ['ungated', text.some((t) => t.includes('"ungated"'))],
          ['cleared', text.some((t) => t.includes('"cleared"'))],
          ['alarm', was.told.some((t) => t.startsWith('alarm'))],
        ] as const)
          if (is) happened.set(what, (happened.get(what) ?? 0) + 1);
      }),
      { numRuns: runs(300) },
    );
    // A fleet in which nothing is to be done says nothing.
    expect(['changed', 'ungated', 'cleared', 'alarm'].filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
  });
});
