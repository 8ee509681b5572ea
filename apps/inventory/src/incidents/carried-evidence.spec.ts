import { describe, expect, it } from '@jest/globals';
import { anIncident } from '../testing/records.js';
import { evidenceOf, withCarried } from './carried-evidence.js';

describe('the evidence that an order rests on', () => {
  const order = evidenceOf({ power: 'on', refusedForMs: 12_000 });
  const fencing = anIncident('n-1', { phase: 'fencing', evidence: order });

  it('stands for a replica that has seen nothing itself', () => {
    expect(withCarried({ power: undefined, refusedForMs: 0 }, fencing)).toEqual({ power: 'on', refusedForMs: 12_000 });
  });
  it('is not undone by a read that gave way to the fencing', () => {
    expect(withCarried({ power: 'unknown', refusedForMs: 13_000 }, fencing)).toEqual({
      power: 'on',
      refusedForMs: 13_000,
    });
  });
  it('says nothing of a host that did not refuse then, and does now', () => {
    const silent = anIncident('n-1', {
      phase: 'fencing',
      evidence: evidenceOf({ power: 'off', refusedForMs: undefined }),
    });
    expect(withCarried({ power: undefined, refusedForMs: 0 }, silent)).toEqual({ power: 'off', refusedForMs: 0 });
  });
  it.each(['failed', 'suppressed', 'investigating'] as const)('does not count for one that is %s', (phase) => {
    const own = { power: undefined, refusedForMs: 0 };
    expect(withCarried(own, anIncident('n-1', { phase, evidence: order }))).toEqual(own);
  });
});
