import { describe, expect, it } from 'vitest';
import { RESERVATIONS_KEY, type Reservations } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { editForward, UNDECIDED_MS } from './edit-forward.js';

describe('changes of several nodes at once that their replica has left', () => {
  function world(...decided: string[]) {
    const store = new MemoryStore();
    const edits = Object.fromEntries(decided.map((edit) => [edit, { nodes: [] }]));
    store.reservations.set(RESERVATIONS_KEY, { held: {}, pending: {}, generation: 0, edits });
    for (const key of ['permits', 'edit-a-1=0', 'edit-a-1=1', 'edit-b-1=0', 'edit-torn-1=0'])
      store.reservations.set(key, {} as Reservations);
    const done: string[] = [];
    const failed: object[] = [];
    const sut = planExecutor(store, {
      edits: {
        carryOut: (edit) => {
          if (edit === 'edit-torn-1') throw new Error('a part of it is missing');
          return Promise.resolve(void done.push(`carried out ${edit}`));
        },
        sweep: (edit) => Promise.resolve(void done.push(`swept ${edit}`)),
      },
    }).drive(editForward);
    const round = (now: number): Promise<void> => {
      store.clock.now = now;
      return playRun(sut, { now, failed: (facts) => failed.push(facts) });
    };
    return { store, done, failed, round };
  }

  it('are written to their end where they were decided, and one that cannot be holds up no other', async () => {
    const { done, failed, round } = world('edit-torn-1', 'edit-b-1');
    await round(0);
    expect(done).toEqual(['carried out edit-b-1']);
    expect(failed).toMatchObject([{ edit: 'edit-torn-1' }]);
  });

  it('are swept once nobody has decided them for long enough, and not before', async () => {
    const { done, round } = world('edit-b-1', 'edit-torn-1');
    await round(0);
    await round(UNDECIDED_MS - 1);
    expect(done).toEqual(['carried out edit-b-1', 'carried out edit-b-1']);
    await round(UNDECIDED_MS);
    expect(done.slice(2).toSorted()).toEqual(['carried out edit-b-1', 'swept edit-a-1']);
  });
});
