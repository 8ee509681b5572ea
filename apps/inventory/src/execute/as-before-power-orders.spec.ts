import { expect, it } from 'vitest';
import fc from 'fast-check';
import type { IncidentPhase, IncidentRecord, PowerOrder } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { Reconciler } from '../conductor/task.js';
import { IncidentService } from '../incidents/incident.service.js';
import { PowerOrderReconciler } from '../incidents/power-order.reconciler.js';
import { powerOrders } from '../plan/power-orders.js';
import type { AfterAnswer } from '../store/after-answer.js';
import type { AuditService } from '../store/audit.service.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { anIncident } from '../testing/records.js';

const nodes = ['n-1', 'n-2', 'n-3'];

const order: fc.Arbitrary<PowerOrder> = fc
  .record({
    action: fc.constantFrom('on' as const, 'soft' as const),
    at: fc.nat(2),
    done: fc.constantFrom(false, true),
  })
  .map(({ done, ...o }) => ({ ...{ by: 'eve', reason: 'memory', after: 0 }, ...o, ...(done && { done }) }));

const incident = (node: string): fc.Arbitrary<IncidentRecord> =>
  fc
    .record({
      id: fc.constantFrom(`${node}-a`, `${node}-b`),
      phase: fc.constantFrom<IncidentPhase[]>('closed', 'closed', 'recovered', 'open', 'fencing', 'cancelled'),
      order: fc.option(order, { nil: undefined, freq: 4 }),
    })
    .map(({ order: given, ...o }) => anIncident(node, { ...o, ...(given && { order: given }) }));

type Edit = { node: string; is: IncidentRecord | undefined } | undefined;
const edit: fc.Arbitrary<Edit> = fc
  .constantFrom(...nodes)
  .chain((node) => fc.record({ node: fc.constant(node), is: fc.option(incident(node), { nil: undefined, freq: 6 }) }));

interface World {
  incidents: IncidentRecord[];
  /** `late`: somebody writes right before the compare-and-set. */
  rounds: { afterMs: number; edit: Edit; late: Edit }[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  incidents: fc.tuple(...nodes.map(incident)),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(1_000, 59_000, 60_000, 119_999, 120_000),
      edit: fc.option(edit, { nil: undefined, freq: 1 }),
      late: fc.option(edit, { nil: undefined, freq: 1 }),
    }),
    { minLength: 3, maxLength: 7 },
  ),
});

/** @returns the incidents after each round */
async function play(w: World, make: (store: MemoryStore) => Reconciler): Promise<object[]> {
  const store = new MemoryStore();
  const { mutate } = store.incidents.bucket;
  let late: Edit;
  store.incidents.bucket.mutate = async (key, fn) => {
    if (late?.node === key) store.incidents.set(key, late.is);
    return mutate(key, fn);
  };
  for (const i of w.incidents) store.incidents.set(i.node, i);
  const reconciler = make(store);
  const seen: object[] = [];
  for (const r of w.rounds) {
    store.clock.now += r.afterMs;
    if (r.edit !== undefined) store.incidents.set(r.edit.node, r.edit.is);
    ({ late } = r);
    await playRun(reconciler, { now: store.clock.now });
    seen.push(store.incidents.content);
  }
  return seen;
}

it('power-orders, which is planned, does what its reconciler did', async () => {
  let lapsed = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(w, (store) => {
        const incidents = new IncidentService(store.asStore, {} as AuditService, {} as AfterAnswer);
        return new PowerOrderReconciler(store.asStore, incidents);
      });
      expect(await play(w, (store) => planExecutor(store).drive(powerOrders))).toEqual(was);
      if (JSON.stringify(was).includes('No fencer carried it out in time.')) lapsed += 1;
    }),
    { numRuns: runs(300) },
  );
  // Orders that are all dealt with say nothing.
  expect(lapsed).toBeGreaterThan(10);
});
