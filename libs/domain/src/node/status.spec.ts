import { describe, expect, it } from 'vitest';
import { NodeStatuses } from '#contracts';
import { statusChanges, type StatusJob } from './status.js';

const jobs: readonly StatusJob[] = ['commission', 'decommission', 'maintenance'];

describe('the status of a node', () => {
  it('has a way into and out of each, by a job', () => {
    for (const status of NodeStatuses) {
      expect(statusChanges.some((c) => c.from === status)).toBe(true);
      expect(statusChanges.some((c) => c.to === status)).toBe(true);
    }
  });

  it.each(jobs)('is one and the same while a %s lives, and is left by the end of that job alone', (by) => {
    const during = [...new Set(statusChanges.filter((c) => c.by === by && c.when === 'begins').map((c) => c.to))];
    expect(during).toHaveLength(1);
    const out = statusChanges.filter((c) => c.from === during[0]);
    expect(out.filter((c) => c.by !== by || c.when === 'begins')).toEqual([]);
    expect(new Set(out.map((c) => c.when))).toEqual(new Set(['succeeds', 'fails', 'unbegun']));
  });

  it('is another one after each change, and each change is named once', () => {
    expect(statusChanges.filter((c) => c.from === c.to)).toEqual([]);
    const keys = statusChanges.map((c) => Object.values(c).join(' '));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
