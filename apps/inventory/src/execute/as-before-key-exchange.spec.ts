import { expect, it } from 'vitest';
import fc from 'fast-check';
import { DATAGRAM_KEYS_KEY, datagramKeySecret, MusterError, type DatagramKeySet, type NodeRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { KeyRotationReconciler } from '../agents/key-rotation.reconciler.js';
import type { Reconciler } from '../conductor/task.js';
import { keyExchange } from '../plan/agents/key-exchange.js';
import { MemoryStore } from '../testing/memory-store.js';
import { datagramKeys, planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aBeacon, aNode, aReport } from '../testing/records.js';

const [OLD, NEW, OTHER] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'];
const names = ['n-1', 'n-2'];
const often = fc.nat(9).map((n) => n > 0);
const seldom = fc.nat(9).map((n) => n === 0);
const anyKeys = fc.constantFrom<(string[] | undefined)[]>(
  [OLD, NEW],
  [OLD, NEW],
  [NEW, OLD],
  [NEW, OLD],
  [NEW],
  [OLD],
  undefined,
);

type Write = (store: MemoryStore) => void;
const settingsIn = (store: MemoryStore) => store.settings as unknown as { set: (k: string, v: unknown) => number };

const setWrite = fc
  .record({
    phase: fc.constantFrom('spread' as const, 'sign' as const, 'done' as const),
    retired: seldom,
    without: fc.subarray(names),
    version: fc.constantFrom(1_000, 9_000_000),
    gone: seldom,
    hasSecret: often,
  })
  .map(({ phase, retired, without, version, gone, hasSecret }): Write => {
    const set: DatagramKeySet = {
      ...{ version, phase, by: 'ann', startedAt: 1, changedAt: 1 },
      keys: { spread: [OLD, NEW], sign: [NEW, OLD], done: [NEW] }[phase],
      ...(retired && { retired: OTHER }),
      ...(without.length > 0 && { without }),
    };
    return (store) => {
      settingsIn(store).set(DATAGRAM_KEYS_KEY, gone ? undefined : set);
      for (const key of hasSecret ? [OLD, OTHER] : []) store.secrets.set(datagramKeySecret(key), { sealed: key });
    };
  });

const nodeWrite = fc
  .record({
    name: fc.constantFrom(...names),
    gone: seldom,
    enrolled: often,
    verdict: fc.constantFrom('UP' as const, 'UP' as const, 'DOWN' as const, 'SUSPECT' as const, undefined),
    off: fc.boolean(),
  })
  .map(({ name, gone, enrolled, verdict, off }): Write => {
    const node: NodeRecord = aNode(name, {
      enrolled,
      ...(verdict && { verdict: { verdict, networks: [], epoch: 1, seq: 1, at: 1 } }),
      ...(off && { confirmedOff: { by: 'fencing', at: 1 } as never }),
    });
    return (store) => void store.nodes.set(name, gone ? undefined : node);
  });

let seq = 1;
const reportWrite = fc
  .record({ name: fc.constantFrom(...names), keys: anyKeys })
  .map(({ name, keys }): Write => (store) => {
    store.reports.hear(aReport(name, { seq: ++seq, ...(keys && { keys }) }), store.clock.now);
  });

const beaconWrite = fc.record({ keys: anyKeys, sighted: often }).map(({ keys, sighted }): Write => (store) => {
  store.detector.hear(JSON.stringify(aBeacon({ seq: ++seq, sighted, ...(keys && { keys }) })));
});

const gap = fc.record({ nodes: often, settings: often }).map(({ nodes, settings }): Write => (store) => {
  store.nodes.live = nodes;
  store.settings.live = settings;
});

/** Everybody has come as far as the set says. */
const allFollow: Write = (store) => {
  const keys = (store.settings.content as Record<string, unknown>)[DATAGRAM_KEYS_KEY] as DatagramKeySet | undefined;
  if (keys === undefined) return;
  for (const name of names) store.reports.hear(aReport(name, { seq: ++seq, keys: keys.keys }), store.clock.now);
  store.detector.hear(JSON.stringify(aBeacon({ seq: ++seq, keys: keys.keys })));
};

const write = fc.oneof(
  { weight: 2, arbitrary: setWrite },
  { weight: 3, arbitrary: nodeWrite },
  { weight: 4, arbitrary: reportWrite },
  { weight: 4, arbitrary: beaconWrite },
  { weight: 1, arbitrary: gap },
  { weight: 4, arbitrary: fc.constant(allFollow) },
);

const history = fc.record({
  first: fc.array(fc.oneof(setWrite, nodeWrite, nodeWrite), { minLength: 4, maxLength: 6 }),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(1, 400, 2_900, 5_000),
      writes: fc.array(write, { maxLength: 3 }),
      /** Comes before the compare-and-set reads. */
      meanwhile: fc.option(setWrite, { freq: 8, nil: undefined }),
      /** The secret cannot be destroyed. */
      fails: seldom,
    }),
    { minLength: 6, maxLength: 12 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

async function play({ first, rounds }: History, make: (store: MemoryStore) => Reconciler): Promise<string[]> {
  seq = 1;
  const store = new MemoryStore();
  const seen: string[] = [];
  let meanwhile: Write | undefined;
  let fails = false;
  const { mutate } = store.settings.bucket;
  store.settings.bucket.mutate = async (key, fn) => {
    meanwhile?.(store);
    meanwhile = undefined;
    return mutate(key, fn);
  };
  const remove = store.secrets.bucket.delete;
  store.secrets.bucket.delete = async (key) => {
    if (fails) throw new MusterError('TIMEOUT', 'not destroyed');
    seen.push(`destroyed ${key}`);
    return remove(key);
  };
  const sut = make(store);
  for (const w of first) w(store);
  for (const round of rounds) {
    store.clock.now += round.afterMs;
    for (const w of round.writes) w(store);
    ({ meanwhile, fails } = round);
    const was = JSON.stringify(store.settings.content);
    await playRun(sut, {
      now: store.clock.now,
      failed: (f) => seen.push(`failed ${(f as { code?: string }).code ?? (f as { err: MusterError }).err.code}`),
    });
    if (meanwhile === undefined && round.meanwhile !== undefined) seen.push('overtaken');
    const is = JSON.stringify(store.settings.content);
    seen.push(was === is ? 'same' : is, JSON.stringify(store.secrets.content));
  }
  return seen;
}

it('the key of the datagrams, whose exchange is planned, is exchanged as its reconciler did', async () => {
  const must = ['"phase":"sign"', '"phase":"done"', 'destroyed', 'failed TIMEOUT', 'overtaken', '"without"'];
  const happened = new Map<string, number>();
  const before = (store: MemoryStore): Reconciler => new KeyRotationReconciler(store.asStore, datagramKeys(store));
  await fc.assert(
    fc.asyncProperty(history, async (h) => {
      const was = await play(h, before);
      expect(await play(h, (store) => planExecutor(store).drive(keyExchange))).toEqual(was);
      for (const what of must) if (was.some((x) => x.includes(what))) happened.set(what, (happened.get(what) ?? 0) + 1);
      if (was.every((x) => x === 'same' || x.startsWith('{'))) happened.set('calm', (happened.get('calm') ?? 0) + 1);
    }),
    { numRuns: runs(400) },
  );
  expect([...must, 'calm'].filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
}, 300_000);
