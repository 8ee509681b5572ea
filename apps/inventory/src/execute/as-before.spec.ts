import { expect, it } from 'vitest';
import fc from 'fast-check';
import type { Beacon, NodeRecord, VerdictKind } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { Reconciler } from '../conductor/task.js';
import { VerdictCatchUpReconciler } from '../node-state/verdict-catch-up.reconciler.js';
import { NodeService } from '../nodes/node.service.js';
import { verdictCatchUp } from '../plan/nodes/verdict-catch-up.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor, verdictService } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aBeacon, aNode, aVerdict } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3'];
const maybe = <T>(a: fc.Arbitrary<T>, freq = 1): fc.Arbitrary<T | undefined> => fc.option(a, { nil: undefined, freq });

const kinds: VerdictKind[] = ['UP', 'UP', 'DEGRADED', 'SUSPECT', 'DOWN', 'LEFT', 'UNKNOWN'];
const node = (name: string): fc.Arbitrary<NodeRecord> =>
  fc
    .record({
      kind: maybe(fc.constantFrom(...kinds), 9),
      seq: fc.constantFrom(1, 5, 8),
      enrolled: fc.constantFrom(true, true, true, false),
      isOff: fc.constantFrom(false, false, true),
      state: fc.constantFrom('Discovered' as const, 'Disappeared' as const),
    })
    .map(({ kind, seq, enrolled, isOff, state }) =>
      aNode(name, {
        ...{ enrolled, state },
        ...(kind !== undefined && { verdict: { verdict: kind, networks: [], epoch: 1, seq, at: 1 } }),
        ...(isOff && { confirmedOff: { at: 1, incident: 'i' } }),
      }),
    );

const beacon: fc.Arbitrary<Beacon> = fc
  .record({
    sighted: fc.constantFrom(true, true, true, false),
    notUp: fc.dictionary(
      fc.constantFrom(...names),
      fc.record({ verdict: fc.constantFrom(...kinds), seq: fc.constantFrom(1, 6, 9) }),
      { maxKeys: 3 },
    ),
  })
  .map(aBeacon);

/** What the detector answers for a node: a verdict, something else, or nothing. */
const answer = (name: string): fc.Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .record({ verdict: fc.constantFrom(...kinds), seq: fc.constantFrom(1, 6, 9, 12) })
        .map((o) => aVerdict(name, o)),
    },
    { weight: 1, arbitrary: fc.constantFrom(undefined, { node: name }) },
  );

interface World {
  nodes: NodeRecord[];
  rounds: {
    afterMs: number;
    beacon: Beacon | undefined;
    answers: unknown[];
    edit: { name: string; is: NodeRecord | undefined } | undefined;
  }[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  nodes: fc.subarray(names, { minLength: 1 }).chain((all) => fc.tuple(...all.map(node))),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(400, 1_000, 1_000, 2_100),
      beacon: maybe(beacon, 3),
      answers: fc.tuple(...names.map(answer)),
      edit: maybe(
        fc.constantFrom(...names).chain((name) => fc.record({ name: fc.constant(name), is: maybe(node(name), 9) })),
      ),
    }),
    { minLength: 3, maxLength: 9 },
  ),
});

/** @returns the nodes after each round, and what was asked and told */
async function play(w: World, make: (store: MemoryStore) => Reconciler): Promise<{ seen: object[]; told: string[] }> {
  const store = new MemoryStore();
  for (const n of w.nodes) store.nodes.set(n.name, n);
  const reconciler = make(store);
  const seen: object[] = [];
  for (const [seq, r] of w.rounds.entries()) {
    store.clock.now += r.afterMs;
    if (r.beacon !== undefined) store.detector.hear(JSON.stringify({ ...r.beacon, seq }));
    for (const [n, name] of names.entries())
      if (r.answers[n] === undefined) store.verdicts.delete(name);
      else store.verdicts.set(name, r.answers[n]);
    if (r.edit !== undefined) store.nodes.set(r.edit.name, r.edit.is);
    await playRun(reconciler, { now: store.clock.now });
    seen.push(store.nodes.content);
  }
  return { seen, told: store.told.toSorted() };
}

it('verdict-catch-up, which is planned, does what its reconciler did', async () => {
  const happened = { asked: 0, discovered: 0, disappeared: 0 };
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(
        w,
        (s) => new VerdictCatchUpReconciler(s.asStore, s.detector, verdictService(s, new NodeService(s.asStore))),
      );
      expect(await play(w, (store) => planExecutor(store).drive(verdictCatchUp))).toEqual(was);
      for (const what of ['asked', 'discovered', 'disappeared'] as const)
        happened[what] += Number(was.told.some((t) => t.startsWith(`${what} `)));
    }),
    { numRuns: runs(300) },
  );
  expect(Object.entries(happened).filter(([, times]) => times <= 10)).toEqual([]);
});
