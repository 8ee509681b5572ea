import { expect, it } from 'vitest';
import fc from 'fast-check';
import { RESERVATIONS_KEY, type JobRecord, type Reservations } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { Reconciler } from '../conductor/task.js';
import type { OperationsService } from '../operations/operations.service.js';
import { RollForwardReconciler } from '../operations/roll-forward.reconciler.js';
import { rollForward } from '../plan/roll-forward.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';

type Operations = Pick<OperationsService, 'carryOut'>;

interface World {
  jobs: {
    /** Round before which it is accepted, and from which on its own replica has written it, if ever. */
    acceptedAt: number;
    writtenAt: number | undefined;
    fails: boolean;
  }[];
  rounds: { afterMs: number; noneIsRead: boolean }[];
}

const ROUNDS = 8;
const worlds: fc.Arbitrary<World> = fc.record({
  jobs: fc.array(
    fc.record({
      acceptedAt: fc.nat(ROUNDS - 2),
      writtenAt: fc.option(fc.nat(ROUNDS - 1), { nil: undefined }),
      fails: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  rounds: fc.array(
    fc.record({
      afterMs: fc.constantFrom(1, 250, 499, 500, 1_000),
      noneIsRead: fc.constantFrom(false, false, false, false, true),
    }),
    { minLength: ROUNDS, maxLength: ROUNDS },
  ),
});

/** @returns the jobs that were helped in each round, and what failed in it */
async function play(w: World, make: (store: MemoryStore, operations: Operations) => Reconciler): Promise<object[]> {
  const store = new MemoryStore();
  const helped: string[] = [];
  const failed: object[] = [];
  const written = new Set<string>();
  const operations: Operations = {
    carryOut: async (job) => {
      helped.push(JSON.stringify(job));
      if (w.jobs[Number(job.id)]?.fails === true) throw new Error('odd');
      written.add(job.id);
      return Promise.resolve();
    },
  };
  const reconciler = make(store, operations);
  const seen: object[] = [];
  for (const [round, { afterMs, noneIsRead }] of w.rounds.entries()) {
    store.clock.now += afterMs;
    for (const [i, job] of w.jobs.entries()) if (job.writtenAt === round) written.add(String(i));
    const pending = w.jobs.flatMap(({ acceptedAt }, i): [string, JobRecord][] =>
      acceptedAt <= round && !written.has(String(i))
        ? [[String(i), { id: String(i), by: `${round}` } as JobRecord]]
        : [],
    );
    const value: Reservations = { held: {}, pending: Object.fromEntries(pending), generation: round };
    store.reservations.set(RESERVATIONS_KEY, noneIsRead ? undefined : value);
    await playRun(reconciler, { now: store.clock.now, failed: (f) => failed.push(f) });
    const told = failed.splice(0).map((f) => JSON.stringify({ ...f, cause: undefined }));
    seen.push({ helped: helped.splice(0).toSorted(), failed: told.toSorted() });
  }
  return seen;
}

it('roll-forward, which is planned, does what its reconciler did', async () => {
  const must = ['"helped":["', '"failed":["'];
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(w, (s, o) => new RollForwardReconciler(s.asStore, o as OperationsService));
      expect(await play(w, (s, operations) => planExecutor(s, { operations }).drive(rollForward))).toEqual(was);
      const text = JSON.stringify(was);
      for (const what of must) if (text.includes(what)) happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(300) },
  );
  // A fleet in which nothing is pending says nothing.
  expect(must.filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
});
