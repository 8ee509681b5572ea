import { expect, it } from 'vitest';
import fc from 'fast-check';
import { RESERVATIONS_KEY, type Reservations } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import type { Reconciler } from '../conductor/task.js';
import { EditForwardReconciler } from '../node-requests/edit-forward.reconciler.js';
import type { EditsService } from '../node-requests/edits.service.js';
import { partKey } from '../operations/edit-key.js';
import { editForward } from '../plan/edit-forward.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';

type Edits = Pick<EditsService, 'carryOut' | 'sweep'>;

interface Edit {
  /** Round before which its parts are written, and when it is decided and given up by its own replica, if ever. */
  preparedAt: number;
  decidedAt: number | undefined;
  goneAt: number | undefined;
  parts: number;
  fails: boolean;
}

interface World {
  edits: Edit[];
  afterMs: number[];
}

const ROUNDS = 8;
const sometime = fc.option(fc.nat(ROUNDS - 1), { nil: undefined });
const worlds: fc.Arbitrary<World> = fc.record({
  edits: fc.array(
    fc.record({
      ...{ preparedAt: fc.nat(2), decidedAt: sometime, goneAt: sometime },
      ...{ parts: fc.nat(2), fails: fc.boolean() },
    }),
    { maxLength: 4 },
  ),
  afterMs: fc.array(fc.constantFrom(500, 1_000, 29_000, 30_000, 59_999, 60_000), {
    ...{ minLength: ROUNDS, maxLength: ROUNDS },
  }),
});

class PlayedEdits {
  readonly store = new MemoryStore();
  readonly done: string[] = [];
  readonly failed: object[] = [];

  constructor(private readonly w: World) {}

  readonly edits: Edits = {
    carryOut: (edit) => {
      this.done.push(`carry out ${edit}`);
      if (this.w.edits[Number(edit.split('-')[1])]?.fails === true) throw new Error('odd');
      return Promise.resolve(this.remove(edit));
    },
    sweep: (edit) => Promise.resolve(void this.done.push(`sweep ${edit}`)).then(() => this.remove(edit)),
  };

  /** What others do before this round. */
  before(round: number): void {
    for (const [i, e] of this.w.edits.entries()) {
      const edit = `edit-${i}-x`;
      if (e.preparedAt === round)
        for (let part = 0; part < e.parts; part++) this.store.reservations.set(partKey(edit, part), {} as Reservations);
      if (e.decidedAt === round) this.write({ ...this.decided, [edit]: { nodes: [] } });
      if (e.goneAt === round) this.remove(edit);
    }
  }

  private get decided(): NonNullable<Reservations['edits']> {
    return this.store.reservations.content[RESERVATIONS_KEY]?.edits ?? {};
  }

  private write(edits: NonNullable<Reservations['edits']>): void {
    this.store.reservations.set(RESERVATIONS_KEY, { held: {}, pending: {}, generation: 0, edits });
  }

  private remove(edit: string): void {
    const { [edit]: _done, ...rest } = this.decided;
    this.write(rest);
    for (const key of Object.keys(this.store.reservations.content))
      if (key.startsWith(`${edit}=`)) this.store.reservations.set(key, undefined);
  }
}

/** @returns what was done in each round, and what failed in it */
async function play(w: World, make: (world: PlayedEdits) => Reconciler): Promise<object[]> {
  const world = new PlayedEdits(w);
  const reconciler = make(world);
  const seen: object[] = [];
  for (const [round, afterMs] of w.afterMs.entries()) {
    world.store.clock.now += afterMs;
    world.before(round);
    await playRun(reconciler, { now: world.store.clock.now, failed: (f) => world.failed.push(f) });
    const failed = world.failed.splice(0).map((f) => JSON.stringify({ ...f, cause: undefined }));
    seen.push({ done: world.done.splice(0).toSorted(), failed: failed.toSorted() });
  }
  return seen;
}

it('edit-forward, which is planned, does what its reconciler did', async () => {
  const must = ['carry out', 'sweep', '"code'];
  const happened = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(worlds, async (w) => {
      const was = await play(w, ({ store, edits }) => new EditForwardReconciler(store.asStore, edits as EditsService));
      expect(await play(w, ({ store, edits }) => planExecutor(store, { edits }).drive(editForward))).toEqual(was);
      const text = JSON.stringify(was);
      for (const what of must) if (text.includes(what)) happened.set(what, (happened.get(what) ?? 0) + 1);
    }),
    { numRuns: runs(300) },
  );
  // Edits of which nothing is to be done say nothing.
  expect(must.filter((what) => (happened.get(what) ?? 0) <= 10)).toEqual([]);
});
