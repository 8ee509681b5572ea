import { describe, expect, it } from 'vitest';
import { defaultFencing } from '#contracts';
import { decidePowerOn, POWER_ON_EVERY_MS } from './power-on.js';

describe('power after a recovery', () => {
  const auto = { cause: 'auto' as const };
  const enforce = { ...defaultFencing, mode: 'enforce' as const };
  const paused = { until: 2e12, by: 'eve', reason: 'moving racks' };

  it('is wanted once a day', () => {
    const on = (...poweredOnAt: number[]): boolean => decidePowerOn(auto, enforce, { poweredOnAt }, 1e12).wanted;
    expect(on()).toBe(true);
    expect(on(1e12 - POWER_ON_EVERY_MS + 1)).toBe(false);
    expect(on(1e12 - POWER_ON_EVERY_MS)).toBe(true);
  });
  it('is not wanted where nobody can read when it was powered on last', () => {
    expect(decidePowerOn(auto, enforce, { poweredOnAt: [9e15] }, 1e12)).toEqual({
      wanted: false,
      detail: 'It was powered on at a time that cannot be read already, and once in 24 h is the most: it stays off.',
    });
  });
  it('is left to people where people had a hand in it, and where the policy says so', () => {
    expect(decidePowerOn({ cause: 'manual', by: 'eve' }, enforce, {}, 1).wanted).toBe(false);
    expect(decidePowerOn({ ...auto, proof: { kind: 'manual', at: 1 } }, enforce, {}, 1).wanted).toBe(false);
    expect(decidePowerOn(auto, { ...enforce, afterRecovery: 'stay-off' }, {}, 1).wanted).toBe(false);
  });
  it('is not wanted in mode observe, in a pause, or of a cordoned node', () => {
    expect(decidePowerOn(auto, { ...enforce, mode: 'observe' }, {}, 1e12)).toMatchObject({ wanted: false });
    expect(decidePowerOn(auto, { ...enforce, paused }, {}, 1e12)).toMatchObject({
      wanted: false,
      detail: expect.stringContaining('moving racks'),
    });
    expect(decidePowerOn(auto, { ...enforce, paused }, {}, 2e12)).toMatchObject({ wanted: true });
    const cordon = { by: 'eve', reason: 'disk', at: 1 };
    expect(decidePowerOn(auto, enforce, { cordon }, 1e12)).toMatchObject({ wanted: false });
  });
  it('is not wanted where its boot would start work a second time', () => {
    expect(decidePowerOn(auto, enforce, { ungated: ['db'] }, 1e12)).toMatchObject({
      wanted: false,
      detail: expect.stringContaining('db ran there without'),
    });
  });
});
