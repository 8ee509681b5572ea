import { expect, it } from 'vitest';
import type { TaskView } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { alarmsOfTasks, isOver, taskAlarms } from './task-alarms.js';

const task = (o: Partial<TaskView>): TaskView => ({
  name: 'recovery',
  watches: [],
  periodMs: 1000,
  errors: 0,
  errorsForMs: 0,
  severity: 'critical',
  lastError: { at: 1, code: 'TIMEOUT', message: 'no answer after 312 ms', about: 'node a-1' },
  ...o,
});

it('is told of a task that has failed often enough in a row, and for long enough', () => {
  expect(taskAlarms([task({ errors: 4, errorsForMs: 60_000 }), task({ errors: 90, errorsForMs: 29_999 })])).toEqual([]);
  expect(taskAlarms([task({ errors: 5, errorsForMs: 30_000 })])).toEqual([
    {
      code: 'task-failing',
      subject: 'recovery',
      severity: 'critical',
      message: 'The task recovery of node a-1 fails each time with TIMEOUT: that stands still until it succeeds.',
    },
  ]);
});

it('is over when nothing of the task fails, and not by a conductor that has only begun to look', () => {
  expect(isOver('recovery', [task({})], 30_000)).toBe(true);
  expect(isOver('recovery', [task({})], 29_999)).toBe(false);
  expect(isOver('recovery', [task({ errors: 1 })], 30_000)).toBe(false);
  expect(isOver('a task of an earlier Muster', [task({ errors: 9 })], 30_000)).toBe(true);
});

it('stands through a gap in the view of the alarms, and until a term has lasted for as long as it takes to be told', async () => {
  const store = new MemoryStore();
  const sut = planExecutor(store).drive(alarmsOfTasks);
  const round = async (at: number, token: number): Promise<void> => {
    store.clock.now = at;
    await playRun(sut, { now: at, token });
  };
  const isUp = (): boolean => store.alarms.content['task-failing=recovery']?.cleared === undefined;
  store.failing = [task({ errors: 5, errorsForMs: 30_000 })];
  await round(0, 1);
  expect(store.told).toEqual(['alarm task-failing']);
  store.failing = [];
  await round(10_000, 2);
  await round(39_999, 2);
  store.alarms.live = false;
  await round(40_000, 2);
  expect(isUp()).toBe(true);
  store.alarms.live = true;
  await round(40_000, 2);
  expect(isUp()).toBe(false);
});
