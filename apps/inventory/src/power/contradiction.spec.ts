import { describe, expect, it } from 'vitest';
import { anIncident } from '../testing/records.js';
import { isContradicted } from './contradiction.js';

describe('a proof of off', () => {
  const off = anIncident('n-1', { phase: 'recovering', bootId: 'b1' });

  it('is contradicted by the boot that it ended, whoever gave it', () => {
    expect(isContradicted(off, 5000, { bootId: 'b1', agoMs: 100 })).toBe(true);
    expect(isContradicted({ ...off, phase: 'fenced' }, 5000, { bootId: 'b1', agoMs: 100 })).toBe(true);
  });
  it('is not by another boot, by a report that was on its way, nor by silence', () => {
    expect(isContradicted(off, 5000, { bootId: 'b2', agoMs: 100 })).toBe(false);
    expect(isContradicted(off, 5000, { bootId: 'b1', agoMs: 4500 })).toBe(false);
    expect(isContradicted(off, 0, { bootId: 'b1', agoMs: 0 })).toBe(false);
    expect(isContradicted(off, 5000, undefined)).toBe(false);
  });
  it('is where that is on record, whatever this process has heard', () => {
    const proof = { kind: 'manual' as const, at: 1, doubt: { at: 2, bootId: 'b1' } };
    expect(isContradicted({ ...off, proof }, 0, undefined)).toBe(true);
    expect(isContradicted({ ...off, proof }, 5000, { bootId: 'b2', agoMs: 100 })).toBe(true);
    expect(isContradicted({ ...off, phase: 'failed', proof }, 5000, undefined)).toBe(false);
  });
  it('is none before it is given', () => {
    expect(isContradicted({ ...off, phase: 'fencing' }, 5000, { bootId: 'b1', agoMs: 100 })).toBe(false);
  });
});
