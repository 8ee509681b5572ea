import { describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import type { RunningWorkload } from '#contracts/wire/report.js';
import { WorkloadWatch } from './workload-watch.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('which workloads run here', () => {
  const db: RunningWorkload = { name: 'db', generation: 1 };

  it('is known from the last list, and no longer once that began 5 s ago', async () => {
    let now = 0;
    const answers: ((w: RunningWorkload[]) => void)[] = [];
    const list = (): Promise<RunningWorkload[]> => new Promise((resolve) => answers.push(resolve));
    const watch = new WorkloadWatch(list, () => undefined, { ...systemClock, monotonicMs: () => now }, quiet);
    watch.poll();
    expect(watch.running).toBeUndefined();
    now = 1_000;
    answers[0]?.([db]);
    await settled();
    expect(watch.running).toEqual([db]);
    // The next look hangs: what the first saw grows old from when that began, not from when it ended.
    watch.poll();
    now = 5_000;
    expect(watch.running).toEqual([db]);
    now = 5_001;
    expect(watch.running).toBeUndefined();
    answers[1]?.([]);
    await settled();
    expect(watch.running).toEqual([]);
    watch.stop();
  });
});
