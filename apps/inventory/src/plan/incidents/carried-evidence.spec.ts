import { describe, expect, it } from 'vitest';
import { anIncident } from '../../testing/records.js';
import { evidenceOf, withCarried } from './carried-evidence.js';

describe('the evidence that an order rests on', () => {
  const order = evidenceOf({ power: 'on', hungForMs: 12_000 });
  const fencing = anIncident('n-1', { phase: 'fencing', evidence: order });

  it('stands for a replica that has seen nothing itself', () => {
    expect(withCarried({ power: undefined, hungForMs: 0 }, fencing)).toEqual({ power: 'on', hungForMs: 12_000 });
  });
  it('is not undone by a read that gave way to the fencing', () => {
    expect(withCarried({ power: 'unknown', hungForMs: 13_000 }, fencing)).toEqual({
      power: 'on',
      hungForMs: 13_000,
    });
  });
  it('says nothing of a host that did not refuse then, and does now', () => {
    const silent = anIncident('n-1', {
      phase: 'fencing',
      evidence: evidenceOf({ power: 'off', hungForMs: undefined }),
    });
    expect(withCarried({ power: undefined, hungForMs: 0 }, silent)).toEqual({ power: 'off', hungForMs: 0 });
  });
  it.each(['failed', 'suppressed', 'investigating'] as const)('does not count for one that is %s', (phase) => {
    const own = { power: undefined, hungForMs: 0 };
    expect(withCarried(own, anIncident('n-1', { phase, evidence: order }))).toEqual(own);
  });
});
