import { describe, expect, it } from 'vitest';
import type { BucketName } from '#contracts';
import { decideBirths } from './bucket-births.js';

const day = (n: number): Date => new Date(Date.UTC(2026, 0, n));
const births = (o: Partial<Record<BucketName, Date | undefined>> = {}) =>
  new Map(Object.entries({ nodes: day(1), settings: day(1), leases: day(1), ...o })) as Map<
    BucketName,
    Date | undefined
  >;
const kept = decideBirths(births(), undefined, []).keep;

describe('the buckets of the store', () => {
  it('are right as they are first found, and while they stay so', () => {
    expect(Object.keys(kept?.created ?? {})).toEqual(['nodes', 'settings', 'leases']);
    expect(decideBirths(births(), kept, [])).toEqual({ make: [], alarms: [] });
  });

  it('may grow in number with a later version', () => {
    expect(decideBirths(births({ tokens: day(9) }), kept, []).keep?.created).toHaveProperty('tokens');
  });

  it('are an alarm where one was made anew, until somebody has acknowledged it', () => {
    const now = births({ leases: day(2) });
    const first = decideBirths(now, kept, []);
    expect(first).toMatchObject({
      make: [],
      alarms: [{ code: 'bucket-anew', subject: 'leases', severity: 'critical' }],
    });
    expect(first.keep).toBeUndefined();
    const alarm = { code: 'bucket-anew' as const, subject: 'leases', acknowledged: { by: 'ann', at: 0 } };
    const seen = decideBirths(now, kept, [alarm]);
    expect(seen.alarms).toEqual([]);
    expect(decideBirths(now, seen.keep, [])).toEqual({ make: [], alarms: [] });
  });

  it('are made again only where an empty one says nothing wrong', () => {
    expect(decideBirths(births({ leases: undefined }), kept, []).make).toEqual(['leases']);
    const lost = decideBirths(births({ nodes: undefined }), kept, []);
    expect(lost.make).toEqual([]);
    expect(lost.alarms).toMatchObject([{ subject: 'nodes' }]);
  });

  it('are an alarm where the settings are younger than the nodes, and nothing else is known', () => {
    expect(decideBirths(births({ settings: day(5) }), undefined, []).alarms).toMatchObject([{ subject: 'settings' }]);
  });
});
