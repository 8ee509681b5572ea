import { expect, it } from 'vitest';
import { RESERVATIONS_KEY, type JobRecord } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { HELP_MS, rollForward } from './roll-forward.js';

it('of two jobs that were left half done, one that cannot be helped does not keep the other waiting', async () => {
  const store = new MemoryStore();
  const pending = { a: { id: 'a' }, b: { id: 'b' } } as unknown as Record<string, JobRecord>;
  store.reservations.set(RESERVATIONS_KEY, { held: {}, pending, generation: 0 });
  const helped: string[] = [];
  const failed: object[] = [];
  const carryOut = async ({ id }: JobRecord): Promise<void> => {
    if (id === 'a') throw new Error('odd');
    helped.push(id);
    return Promise.resolve();
  };
  const sut = planExecutor(store, { operations: { carryOut } }).drive(rollForward);
  const round = (now: number): Promise<void> => {
    store.clock.now = now;
    return playRun(sut, { now, failed: (facts) => failed.push(facts) });
  };
  await round(0);
  await round(HELP_MS - 1);
  expect([helped, failed]).toEqual([[], []]);
  await round(HELP_MS);
  expect(helped).toEqual(['b']);
  expect(failed).toMatchObject([{ job: 'a' }]);
  // One that is pending anew has its time anew.
  store.reservations.set(RESERVATIONS_KEY, { held: {}, pending: {}, generation: 1 });
  await round(HELP_MS + 1);
  store.reservations.set(RESERVATIONS_KEY, { held: {}, pending, generation: 2 });
  await round(HELP_MS + 2);
  expect(helped).toEqual(['b']);
});
