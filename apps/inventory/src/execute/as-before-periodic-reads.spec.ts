import { expect, it } from 'vitest';
import fc from 'fast-check';
import { identityBasis, MusterError, type DeviceFacts, type NodeRecord, type PowerIdentity } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { Reconciler } from '../conductor/task.js';
import type { IdentityReads } from '../identity/identity-reads.js';
import { IdentityReconciler } from '../identity/identity.reconciler.js';
import { periodicReads } from '../plan/power/periodic-reads.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aDevice, aNode } from '../testing/records.js';

const HOUR = 3_600_000;
const g = (n: number): string => `00112233445566778899aabbccddee0${n}`;
const names = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6'];
const seldom = fc.nat(9).map((n) => n === 0);

type Write = (store: MemoryStore) => void;
/** What a device says; undefined: nobody answers. */
type Outcome = { seen?: DeviceFacts; code?: string } | undefined;

const nodeWrite = fc
  .record({
    name: fc.constantFrom(...names),
    gone: seldom,
    bare: seldom,
    address: fc.constantFrom('10.1.0.1', '10.1.0.1', '10.1.0.1', '10.1.0.2'),
    two: seldom,
    result: fc.constantFrom('none', 'proven', 'proven', 'unproven', 'mismatch', 'mismatch', 'drilled', 'elsewhere'),
    machine: fc.constantFrom(undefined, 1, 1, 1, 2),
    status: fc.constantFrom<NodeRecord['status']>('Allocated', 'Maintenance'),
  })
  .map(({ name, gone, bare, address, two, result, machine, status }): Write => {
    const devices = [{ ...aDevice(), address }, ...(two ? [aDevice('pdu')] : [])];
    const identity = (basis: string): PowerIdentity =>
      ({
        ...{ at: 1, basis: result === 'elsewhere' ? 'x' : basis },
        ...{ result: /drill|else/.test(result) ? 'proven' : result },
        ...(result === 'proven' && { by: 'guid', seen: { guid: g(1) } }),
        ...(result === 'drilled' && { by: 'drill' }),
      }) as PowerIdentity;
    const node = aNode(name, {
      ...{ status, powerLevels: bare ? [] : devices.map((d) => [d]) },
      ...(machine !== undefined && { hardware: { systemUuid: g(machine), at: 1 } }),
      ...(result !== 'none' && {
        powerIdentity: Object.fromEntries(devices.map((d) => [d.id, identity(identityBasis(d))])),
      }),
    });
    return (store) => void store.nodes.set(name, gone ? undefined : node);
  });

const anyOutcome = fc.constantFrom<Outcome[]>(
  { seen: { guid: g(1) } },
  { seen: { guid: g(1) } },
  { seen: {} },
  { seen: { guid: g(2) } },
  { code: 'BMC_TIMEOUT' },
  { code: 'NODE_BUSY' },
  undefined,
);

const history = fc.record({
  share: fc.constantFrom(0, 0.25, 0.5, 1),
  first: fc.array(nodeWrite, { minLength: 1, maxLength: 8 }),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(
        500,
        500,
        500,
        1_000,
        5_000,
        5_000,
        5_000,
        5_000,
        45_000,
        50_000,
        59_000,
        60_000,
        1.5 * HOUR,
        6 * HOUR,
      ),
      writes: fc.oneof(fc.constant([]), fc.array(nodeWrite, { minLength: 1, maxLength: 3 })),
      gap: seldom,
      /** So many of the reads under way end first, and so. */
      outcomes: fc.array(anyOutcome, { maxLength: 4 }),
    }),
    { minLength: 8, maxLength: 24 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function play(
  { share, first, rounds }: History,
  make: (store: MemoryStore, reads: IdentityReads) => Reconciler,
): Promise<string[]> {
  const store = new MemoryStore();
  store.random.number = () => share;
  const seen: string[] = [];
  let pending: { since: number; end: (outcome: Outcome) => void }[] = [];
  const read = (name: string, { marks }: { marks: boolean }): Promise<unknown> => {
    seen.push(`${store.clock.now} ${name}${marks ? ' marks' : ''}`);
    const ids = store.nodes.content[name]?.powerLevels.flat().map((d) => d.id) ?? [];
    return new Promise((resolve, reject) => {
      const end = (outcome: Outcome): void => {
        if (outcome === undefined) reject(new MusterError('TIMEOUT', 'no answer'));
        else resolve(ids.map((id) => ({ id, ...outcome })));
      };
      pending.push({ since: store.clock.now, end });
    });
  };
  const end = async (isOver: (p: { since: number }, n: number) => boolean, outcomes: Outcome[]): Promise<void> => {
    const over = pending.filter(isOver);
    pending = pending.filter((p) => !over.includes(p));
    for (const [n, p] of over.entries()) p.end(outcomes[n % Math.max(1, outcomes.length)]);
    await settle();
  };
  const sut = make(store, { read } as unknown as IdentityReads);
  for (const w of first) w(store);
  for (const { afterMs, writes, gap, outcomes } of rounds) {
    await end((_p, n) => n < outcomes.length, outcomes);
    if (afterMs > 5_000) {
      // No read takes longer.
      store.clock.now += 5_000;
      await end(() => true, outcomes);
    }
    store.clock.now += afterMs;
    await end((p) => store.clock.now - p.since > 15_000, outcomes);
    for (const w of writes) w(store);
    store.nodes.live = !gap;
    await playRun(sut, { now: store.clock.now });
    seen.push('round');
  }
  return seen;
}

it('whose power devices are is read as planned, in good days, as their reconciler had it', async () => {
  const happened = new Map<string, number>();
  const note = (what: string): unknown => happened.set(what, (happened.get(what) ?? 0) + 1);
  const counted: typeof periodicReads = {
    ...periodicReads,
    plan: (fleet, ages) => {
      const intents = periodicReads.plan(fleet, ages);
      for (const i of intents) note(i.reason);
      if (fleet.periodicReads.underWay() + intents.length === 4) note('as many at once as may be');
      return intents;
    },
  };
  await fc.assert(
    fc.asyncProperty(history, async (h) => {
      const was = await play(h, (store, reads) => new IdentityReconciler(store.asStore, reads));
      expect(await play(h, (store, reads) => planExecutor(store, { reads }).drive(counted))).toEqual(was);
      if (was.some((x) => x.endsWith('marks'))) note('marks');
    }),
    { numRuns: runs(600) },
  );
  expect([...happened].filter(([, n]) => n <= 20)).toEqual([]);
  expect(happened.size).toBe(7);
});
