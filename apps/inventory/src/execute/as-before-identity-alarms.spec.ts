import { expect, it } from 'vitest';
import fc from 'fast-check';
import { identityBasis, type AlarmRecord, type NodeRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler } from '../conductor/task.js';
import type { IdentityReads } from '../identity/identity-reads.js';
import { IdentityReconciler } from '../identity/identity.reconciler.js';
import { alarmsOfIdentity } from '../plan/power/alarms-of-identity.js';
import type { KnownNames } from '../store/known-names.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aDevice, aNode } from '../testing/records.js';

type Write = (store: MemoryStore) => void;
const addresses = ['10.1.0.1', '10.1.0.2', 'bmc-a', 'bmc-b'];

const write: fc.Arbitrary<Write> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        name: fc.constantFrom('n-1', 'n-2', 'n-3'),
        gone: fc.nat(6).map((n) => n === 0),
        address: fc.constantFrom(...addresses),
        result: fc.constantFrom('none', 'proven', 'unproven', 'mismatch', 'acknowledged', 'unread', 'elsewhere'),
        state: fc.constantFrom<NodeRecord['state']>('Discovered', 'Discovered', 'Disappeared'),
        bare: fc.nat(6).map((n) => n === 0),
      })
      .map(({ name, gone, address, result, state, bare }): Write => {
        const device = { ...aDevice(), address };
        const known = {
          ...{ at: 1, basis: result === 'elsewhere' ? 'x' : identityBasis(device) },
          ...{ result: result === 'unread' ? 'proven' : /ackn|else/.test(result) ? 'mismatch' : result },
          ...(result === 'mismatch' && { why: 'it says n-9' }),
          ...(result === 'acknowledged' && { acknowledged: { by: 'ann', why: 'w', at: 1 } }),
          ...(result === 'unread' && { unread: { at: 1, why: 'no answer' } }),
        };
        const node = aNode(name, {
          ...{ state, powerLevels: bare ? [] : [[device]] },
          ...(result !== 'none' && { powerIdentity: { bmc: known } as NonNullable<NodeRecord['powerIdentity']> }),
        });
        return (store) => void store.nodes.set(name, gone ? undefined : node);
      }),
  },
  fc
    .record({ name: fc.constantFrom('bmc-a', 'bmc-b'), is: fc.constantFrom(undefined, ['10.1.0.1'], ['10.1.0.2']) })
    .map(({ name, is }): Write => {
      return (store) => void (is === undefined ? store.names.delete(name) : store.names.set(name, is));
    }),
  fc.constantFrom('nodes' as const, 'alarms' as const, 'jobs' as const).map(
    (table): Write =>
      (store) =>
        void (store[table].live = !store[table].live),
  ),
);

const up = (code: AlarmRecord['code'], subject: string): AlarmRecord => ({
  ...{ code, subject, severity: 'critical', message: 'm', since: 1, count: 1 },
});

async function play(rounds: Write[][], make: (store: MemoryStore) => Reconciler): Promise<object[]> {
  const store = new MemoryStore();
  for (const a of [up('power-identity', 'n-2'), up('power-place', 'n-8'), up('drift', 'n-8')])
    store.alarms.set(`${a.code}=${a.subject}`, a);
  const reconciler = make(store);
  const seen: object[] = [];
  for (const writes of rounds) {
    store.clock.now += 1_000;
    for (const w of writes) w(store);
    await playRun(reconciler, { now: store.clock.now });
    seen.push(store.alarms.content);
  }
  return [...seen, store.told.toSorted()];
}

const before = (store: MemoryStore): Reconciler =>
  new IdentityReconciler(
    store.asStore,
    new AlarmService(store.asStore),
    { read: async () => Promise.resolve([]) } as unknown as IdentityReads,
    { of: (name: string) => store.names.get(name) } as unknown as KnownNames,
  );

it('alarms about whose power devices are, which are planned, are kept as their reconciler did', async () => {
  const must = [
    ...['power-place', 'power-identity', 'power-identity-unread'].map((code) => `"code":"${code}","subject":"n-1"`),
    ...['"cleared"', '"count":2', 'power-place=n-3'],
  ];
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(write, { maxLength: 4 }), { minLength: 4, maxLength: 9 }), async (rounds) => {
      const was = await play(rounds, before);
      expect(await play(rounds, (store) => planExecutor(store).drive(alarmsOfIdentity))).toEqual(was);
      const text = JSON.stringify(was);
      for (const what of must) if (text.includes(what)) happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(400) },
  );
  expect(must.filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
});
