import { describe, expect, it } from 'vitest';
import { PERIODIC } from '#contracts';
import { aJob } from '../../testing/fixtures.js';
import { expendable, PERIODIC_KEPT } from './job-retention.js';

const jobs = [1, 2, 3, 4, 5].map((n) => aJob({ id: `j${n}`, createdAt: n, settled: true }));
const ids = (named: string[], kept: number, all = jobs): string[] =>
  expendable(all, new Set(named), kept).map((j) => j.id);

describe('the retention of jobs', () => {
  it('drops the oldest settled ones beyond what is kept', () => {
    expect(ids([], 3)).toEqual(['j1', 'j2']);
    expect(ids([], 5)).toEqual([]);
  });
  it('keeps what a record names, and counts it not', () => {
    expect(ids(['j1', 'j2', 'j3'], 2)).toEqual([]);
    expect(ids(['j1', 'j2', 'j3'], 1)).toEqual(['j4']);
  });
  it('never drops one that has not ended or is not settled', () => {
    const open = [aJob({ id: 'queued', status: 'Queued', createdAt: 0 }), aJob({ id: 'unsettled', createdAt: 0 })];
    expect(ids([], 0, open)).toEqual([]);
  });
  it('keeps what people have done although nodes are checked by themselves all the time', () => {
    const asked = Array.from({ length: 20 }, (_, i) => aJob({ id: `asked-${i}`, createdAt: i, settled: true }));
    const own = Array.from({ length: 900 }, (_, i) =>
      aJob({ id: `own-${i}`, kind: 'check', cause: PERIODIC, createdAt: 100 + i, settled: true }),
    );
    const gone = expendable([...own, ...asked], new Set(['own-0']));
    expect(gone).toHaveLength(899 - PERIODIC_KEPT);
    expect(gone[0]?.id).toBe('own-1');
    expect(gone.some((j) => j.id.startsWith('asked'))).toBe(false);
  });
});
