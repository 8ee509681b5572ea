import { describe, expect, it } from 'vitest';
import { decideLoaded } from './store-loaded.js';

const kept = {
  generation: 1_795_000_000,
  loaded: { copied: '2026-11-01T00:00:00.000Z', at: '2026-11-18T00:00:00.000Z' },
};
const by = { by: 'ann', at: 0 };

describe('a store that was loaded from a copy', () => {
  it('is an alarm, which names the date of the copy, until somebody has acknowledged it', () => {
    const { alarms, keep } = decideLoaded(kept, []);
    expect(alarms).toMatchObject([{ code: 'store-loaded', subject: '1795000000', severity: 'critical' }]);
    expect(alarms[0]?.message).toContain('a copy whose last write is of 2026-11-01T00:00:00.000Z');
    expect(alarms[0]?.message).toContain('muster alarms ack store-loaded=1795000000');
    // Whoever only observed is not to be led into powering off.
    for (const mode of ['enforce', 'observe']) expect(alarms[0]?.message).toContain(`muster fencing set ${mode}`);
    expect(keep).toBeUndefined();
    const seen = decideLoaded(kept, [{ code: 'store-loaded', subject: '1795000000', acknowledged: by }]);
    expect(seen).toEqual({ alarms: [], keep: { generation: 1_795_000_000 } });
    expect(decideLoaded(seen.keep, [])).toEqual({ alarms: [] });
  });

  it('is told of in other words where nobody said so: what is under way in it goes on', () => {
    const [alarm] = decideLoaded({ ...kept, loaded: { ...kept.loaded, found: true } }, []).alarms;
    expect(alarm?.message).toContain('older ones, of before 2026-11-01T00:00:00.000Z');
    expect(alarm?.message).toContain('muster store restored');
    expect(decideLoaded(kept, []).alarms[0]?.message).not.toContain('muster store restored');
  });

  it('is not accepted by what was acknowledged of an earlier load, or of something else', () => {
    const others = [
      { code: 'store-loaded' as const, subject: '1794000000', acknowledged: by },
      { code: 'bucket-anew' as const, subject: '1795000000', acknowledged: by },
      { code: 'store-loaded' as const, subject: '1795000000' },
    ];
    expect(decideLoaded(kept, others).alarms).toHaveLength(1);
  });

  it('is none where the store was never loaded', () => {
    expect(decideLoaded(undefined, [])).toEqual({ alarms: [] });
  });
});
