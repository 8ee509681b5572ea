import { describe, expect, it } from 'vitest';
import { completeSettings, defaultSettings, defaultStorm, readStorm, type ClusterSettings } from './settings.js';

describe('storm limits', () => {
  it('have their defaults in settings that an older version stored', () => {
    const s = defaultSettings('lab');
    const { storm: _later, ...fencing } = s.fencing;
    expect(completeSettings({ ...s, fencing } as ClusterSettings)).toEqual(s);
    const mine = { ...s, fencing: { ...s.fencing, storm: { ...defaultStorm, flaps: 7 } } };
    expect(completeSettings(mine)).toEqual(mine);
  });

  it.each([
    [{ brakeAtLeast: 0 }, 'brakeAtLeast (0)'],
    [{ capAtLeast: 2.5 }, 'capAtLeast (2.5)'],
    [{ flaps: '3' }, 'flaps (3)'],
    [{ capShare: Number.NaN }, 'capShare (NaN)'],
    [{ brakeShare: 0.51 }, 'brakeShare (0.51)'],
    [{ brake: 1 }, 'brake is not a setting'],
    [[], 'a mapping'],
  ])('refuse %j', (given, message) => {
    expect(() => readStorm(given)).toThrow(message);
  });
});
