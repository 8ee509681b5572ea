import { describe, expect, it } from '@jest/globals';
import { anIncident } from '../testing/records.js';
import { alarmsOf } from './incident-alarms.js';

describe('the alarms of incidents', () => {
  const fencing = anIncident('n-1', { phase: 'fencing' });
  const of = (stuck: boolean, i = fencing) =>
    alarmsOf(
      [i],
      () => 'default',
      () => stuck,
    );

  it('tell of an order that nobody carries out', () => {
    expect(of(true)).toEqual([
      expect.objectContaining({ code: 'fencing-failed', subject: 'n-1', severity: 'critical' }),
    ]);
    expect(of(true)[0]?.message).toContain('no fencer');
  });
  it('leave one alone that is on its way, and one that is through', () => {
    expect(of(false)).toEqual([]);
    expect(of(true, anIncident('n-1', { phase: 'recovering' }))).toEqual([]);
  });
});
