import { describe, expect, it } from 'vitest';
import type { AlarmRecord } from '#contracts';
import { spaceAlarms } from './store-space.js';

const disk = (used: number) => ({ path: '/srv/nats', totalBytes: 1e9, freeBytes: 1e9 * (1 - used) });
const standing = (wanted: ReturnType<typeof spaceAlarms>): AlarmRecord[] =>
  wanted.map((w) => ({ ...w, since: 0, count: 1 }) as unknown as AlarmRecord);

describe('the alarm of a disk that fills up', () => {
  it('is a warning from 80 %, critical from 95 %, and over below 75 %', () => {
    let stands: AlarmRecord[] = [];
    const severities = [0.79, 0.8, 0.94, 0.95, 0.8, 0.76, 0.74, 0.79].map((used) => {
      const wanted = spaceAlarms(disk(used), stands);
      stands = standing(wanted);
      return wanted[0]?.severity;
    });
    expect(severities).toEqual([
      undefined,
      'warning',
      'warning',
      'critical',
      'warning',
      'warning',
      undefined,
      undefined,
    ]);
  });

  it('stays as it is while the disk cannot be asked', () => {
    expect(spaceAlarms(undefined, [])).toEqual([]);
    const [was] = spaceAlarms(disk(0.9), []);
    expect(spaceAlarms(undefined, standing([was!]))).toEqual([was]);
  });
});
