import { describe, expect, it } from '@jest/globals';
import { historyOf, parseBeat } from './ledger.js';
import { selfTest } from './self-test.js';

const beat = (host: string, ms: number) => ({ workload: 'w', host, boot: host, ns: ms * 1e6 });

describe('the audit', () => {
  it('finds nothing in a story without fault, and every planted violation', () => {
    const result = selfTest();
    expect(result.clean).toEqual([]);
    expect(result.planted.filter((p) => !p.reported)).toEqual([]);
  });
});

describe('the ledger', () => {
  it('measures the longest gap over a move, and no overlap', () => {
    const [h] = historyOf([beat('a', 0), beat('a', 50), beat('b', 4050), beat('b', 4100)]);
    expect(h).toMatchObject({ longestGapMs: 4000, longestOverlapMs: 0 });
  });

  it('sees two hosts that ran at the same time, whatever the order of the lines', () => {
    const [h] = historyOf([beat('b', 60), beat('a', 0), beat('b', 20), beat('a', 50)]);
    expect(h?.longestOverlapMs).toBe(30);
  });

  it('does not take a pause of one process for an overlap with the other', () => {
    const [h] = historyOf([beat('a', 0), beat('b', 3000), beat('b', 3050), beat('a', 6000)]);
    expect(h?.longestOverlapMs).toBe(0);
    expect(h?.runs).toHaveLength(3);
  });

  it('skips a line that was cut off', () => {
    expect(parseBeat('{"workload":"w","host":"a","bo')).toBeUndefined();
  });
});
