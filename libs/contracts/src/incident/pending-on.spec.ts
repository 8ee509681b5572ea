import { describe, expect, it } from 'vitest';
import { anIncident } from '../testing/an-incident.js';
import type { IncidentRecord, PowerCommand } from './incident.js';
import { inPlaceOf, pendingOn } from './pending-on.js';

const command = (n: number, verb: PowerCommand['verb'], power?: 'on' | 'off', device = 'bmc'): PowerCommand => ({
  n,
  epoch: 1,
  fencer: 'f',
  level: 0,
  device,
  verb,
  at: n,
  ...(power !== undefined && { result: { ok: true, power } }),
});
const incident = (commands: PowerCommand[], o: Partial<IncidentRecord> = {}): IncidentRecord =>
  anIncident('n1', { id: 'i1', phase: 'closed', commands, ...o });
const given = { incident: 'i1', n: 2 };

describe('an order to switch on that may still be carried out', () => {
  it('is one that nobody has read back', () => {
    const ordered = [command(1, 'off'), command(2, 'on')];
    expect(pendingOn(incident([command(1, 'off')]))).toBeUndefined();
    expect(pendingOn(incident(ordered))).toEqual(given);
    expect(pendingOn(incident([...ordered, command(3, 'status', 'off')]))).toEqual(given);
    expect(pendingOn(incident([...ordered, command(3, 'status', 'on')]))).toBeUndefined();
  });

  it('is one that was given twice, and one of several devices', () => {
    const twice = [command(1, 'on'), command(2, 'on'), command(3, 'status', 'on')];
    expect(pendingOn(incident(twice))).toEqual(given);
    const both = [command(1, 'on'), command(2, 'on', undefined, 'psu2'), command(3, 'status', 'on')];
    expect(pendingOn(incident(both))).toEqual(given);
    expect(pendingOn(incident([...both, command(4, 'status', 'on', 'psu2')]))).toBeUndefined();
  });

  it('is known to the record that takes its place, until that one has proven it off', () => {
    const next = inPlaceOf(incident([], { id: 'i2' }), incident([command(2, 'on')]));
    expect(next.onBefore).toEqual(given);
    expect(inPlaceOf(incident([], { id: 'i3' }), next).onBefore).toEqual(given);
    const proven: IncidentRecord = { ...next, proof: { kind: 'already-off', level: 0, at: 1 } };
    expect(inPlaceOf(incident([], { id: 'i3' }), proven)).not.toHaveProperty('onBefore');
    expect(inPlaceOf(incident([], { id: 'i3' }), undefined)).not.toHaveProperty('onBefore');
  });
});

it('what power devices denied is known to the record that takes the place of another', () => {
  const denied = { bmc: { basis: 'there', seen: { guid: 'G' }, at: 1 } };
  const next = inPlaceOf(incident([], { id: 'i2' }), incident([], { denied }));
  expect(next).toMatchObject({ id: 'i2', denied });
  expect(inPlaceOf(incident([], { id: 'i3' }), next).denied).toEqual(denied);
});
