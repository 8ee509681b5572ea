import { describe, expect, it } from 'vitest';
import type { WorkloadRecord } from '#contracts';
import { aWorkload } from '../../testing/records.js';
import { isSettledRecovery, recoveryOf } from './recovery-line.js';

describe("what an incident waits for before its node's return", () => {
  const owed = (attempt: number, o: Partial<WorkloadRecord> = {}): WorkloadRecord =>
    aWorkload('db', {
      generation: 3,
      assignment: { node: 'b', generation: 3 },
      start: { cause: 'incident:i', attempt },
      ...o,
    });
  const line = { workload: 'db', from: 'a', state: 'waiting' as const };
  const settled = (w: WorkloadRecord): boolean => isSettledRecovery(recoveryOf(line, w, false));

  it('waits for work that waits for another node, unless its own is back: that may be lost anew', () => {
    const held = aWorkload('db', { held: 'It is not known what runs on n-2.' });
    const state = (w: WorkloadRecord, isBack: boolean): string => recoveryOf(line, w, false, isBack).state;
    expect([state(held, false), state(held, true)]).toEqual(['waiting', 'held']);
    expect(state(aWorkload('db'), true)).toBe('waiting');
  });

  it('is a start that is on its way, or that failed once or twice', () => {
    expect(settled(owed(0))).toBe(false);
    expect(settled(owed(0, { start: { cause: 'incident:i', attempt: 0, job: 'j' } }))).toBe(false);
    expect(settled(owed(2, { held: 'the unit is bad' }))).toBe(false);
  });
  it('is not one that fails again and again, between two tries or in one, nor one that is held', () => {
    expect(settled(owed(3, { held: 'the unit is bad' }))).toBe(true);
    expect(settled(owed(4, { start: { cause: 'incident:i', attempt: 4, job: 'j' } }))).toBe(true);
    const { start: _given, ...leaving } = owed(3, { stop: { cause: 'move:start-failed', attempt: 0 } });
    expect(recoveryOf(line, leaving, false).state).toBe('held');
    expect(settled(owed(0, { held: 'n-5 does not say what it runs' }))).toBe(true);
  });
});
