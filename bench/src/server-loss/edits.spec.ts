import { describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import { edit, givenUp, longestWaitMs, lostEdits, wronglyRefused, type Edit } from './edits.js';

const acknowledged = (beganMs: number, endedMs: number, revision = 1): Edit => ({
  bucket: 'nodes',
  key: `k${beganMs}`,
  beganMs,
  endedMs,
  revision,
});
const refused = (beganMs: number, endedMs: number, code: string): Edit => ({
  bucket: 'nodes',
  key: `k${beganMs}`,
  beganMs,
  endedMs,
  refused: code,
});

describe('edits while a server is lost', () => {
  it('are noted with their revision, or with what was said instead', async () => {
    let now = 0;
    const clock = (): number => (now += 5);
    expect(await edit('nodes', 'a', () => Promise.resolve(7), clock)).toEqual({
      bucket: 'nodes',
      key: 'a',
      beganMs: 5,
      endedMs: 10,
      revision: 7,
    });
    const fail = (): Promise<number> => Promise.reject(new MusterError('TIMEOUT', 'no answer'));
    expect(await edit('nodes', 'b', fail, clock)).toMatchObject({ key: 'b', refused: 'TIMEOUT' });
  });

  it('waited as long as the latest of them, with those that were given up before it', () => {
    expect(longestWaitMs([acknowledged(0, 10), acknowledged(100, 5_100), acknowledged(5_200, 5_210)])).toBe(5_000);
    const edits = [acknowledged(0, 10), refused(100, 12_100, 'TIMEOUT'), acknowledged(12_200, 12_300)];
    expect(longestWaitMs(edits)).toBe(12_200);
    expect(longestWaitMs([...edits, refused(12_400, 24_400, 'TIMEOUT')])).toBe(Infinity);
    expect(longestWaitMs([])).toBe(0);
  });

  it('are lost where they are not there, or are another', () => {
    const edits = [acknowledged(1, 2, 11), acknowledged(3, 4, 12), acknowledged(5, 6, 13), refused(7, 8, 'TIMEOUT')];
    const stored = [
      { key: 'k1', revision: 11 },
      { key: 'k5', revision: 14 },
    ];
    expect(lostEdits(edits, stored).map((e) => e.key)).toEqual(['k3', 'k5']);
  });

  it('are refused in error where nobody else writes, and else given up', () => {
    const edits = [refused(1, 2, 'REVISION_CONFLICT'), refused(3, 4, 'BUS_UNAVAILABLE'), acknowledged(5, 6)];
    expect(wronglyRefused(edits).map((e) => e.key)).toEqual(['k1']);
    expect(givenUp(edits).map((e) => e.key)).toEqual(['k3']);
  });
});
