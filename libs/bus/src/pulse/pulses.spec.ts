import { describe, expect, it } from 'vitest';
import { Pulses } from './pulses.js';

describe('tasks that must not stand still', () => {
  let now = 0;
  const pulses = (): Pulses => {
    now = 0;
    return new Pulses({ monotonicMs: () => now });
  };

  it('are named when they have not moved for longer than they may', () => {
    const all = pulses();
    const lease = all.begin('lease fencer', 10_000);
    all.begin('lease conductor', 30_000);
    now = 8_000;
    lease.beat();
    now = 18_000;
    expect(all.stalled()).toEqual([]);
    now = 18_001;
    expect(all.stalled()).toEqual([{ task: 'lease fencer', forMs: 10_001 }]);
    lease.beat();
    expect(all.stalled()).toEqual([]);
  });

  it('count from their begin: one that never moved is named, too', () => {
    const all = pulses();
    now = 5_000;
    all.begin('lease job.j1', 1_000);
    now = 6_500;
    expect(all.stalled()).toEqual([{ task: 'lease job.j1', forMs: 1_500 }]);
  });

  it('need not move when they are over, also where two have the same name', () => {
    const all = pulses();
    const first = all.begin('lease fencer', 1_000);
    all.begin('lease fencer', 5_000);
    first.end();
    now = 4_000;
    expect(all.stalled()).toEqual([]);
    now = 6_000;
    expect(all.stalled()).toHaveLength(1);
  });
});
