import { describe, expect, it } from 'vitest';
import {
  completeSettings,
  defaultFencing,
  defaultSettings,
  defaultStorm,
  fencingNow,
  readStorm,
  type ClusterSettings,
} from './settings.js';

it('a pause whose time is over is shown to nobody, and one that has no end is', () => {
  const paused = { until: 5, reason: 'r', by: 'ann' };
  expect(fencingNow({ ...defaultFencing, paused }, 4).paused).toEqual(paused);
  expect(fencingNow({ ...defaultFencing, paused }, 5)).toEqual(defaultFencing);
  const endless = { reason: 'r', by: 'ann' };
  expect(fencingNow({ ...defaultFencing, paused: endless }, 5).paused).toEqual(endless);
});

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
