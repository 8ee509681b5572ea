import { describe, expect, it } from 'vitest';
import type { Task, TaskRun } from '../../../apps/inventory/src/conductor/task.js';
import { RoundMeter } from './round-meter.js';

/** Two tasks, each of which computes 5 ms, and ends when it is let. */
function watched() {
  let cpu = 0;
  const meter = new RoundMeter(() => cpu);
  const waiting = new Map<string, () => void>();
  const task = (name: string): Task => ({
    name,
    watches: [],
    periodMs: 1000,
    severity: 'warning',
    reconciler: {
      reconcile: () => {
        cpu += 5;
        return new Promise((resolve) => waiting.set(name, resolve));
      },
    },
  });
  const tasks = new Map(['a', 'b'].map((name) => [name, meter.watch(task(name))]));
  return {
    meter,
    begin: (name: string) => tasks.get(name)?.reconciler.reconcile({} as TaskRun) ?? Promise.reject(new Error(name)),
    end: (name: string) => waiting.get(name)?.(),
    elsewhere: (ms: number) => (cpu += ms),
  };
}

describe('the processor time of rounds', () => {
  it('is what is computed from the first begin to the last end', async () => {
    const h = watched();
    for (let round = 0; round < 2; round++) {
      const both = [h.begin('a'), h.begin('b')];
      h.end('a');
      h.elsewhere(2);
      h.end('b');
      await Promise.all(both);
      h.elsewhere(100);
    }
    expect(h.meter.rounds).toEqual([12, 12]);
  });

  it('is not taken where a task is missing, or runs twice', async () => {
    const h = watched();
    const alone = h.begin('a');
    h.end('a');
    await alone;
    const b = h.begin('b');
    for (let n = 0; n < 2; n++) {
      const a = h.begin('a');
      h.end('a');
      await a;
    }
    h.end('b');
    await b;
    expect(h.meter.rounds).toEqual([]);
  });
});
