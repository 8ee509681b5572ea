import { expect, it } from 'vitest';
import { isOffByIncident } from './proven-off.js';

it('a node is off by the incident that has proven it, and by no other', () => {
  const proven = { confirmedOff: { at: 1, incident: 'i' } };
  expect(['i', 'later'].map((id) => isOffByIncident(proven, { id }))).toEqual([true, false]);
  expect(isOffByIncident({}, { id: 'i' })).toBe(false);
});
