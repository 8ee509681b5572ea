import { describe, expect, it } from 'vitest';
import { phaseText, stepText } from './phase-text.js';

describe('the phase of an incident where a person reads it', () => {
  it('is its word, and where a gate stops it the gate', () => {
    expect(phaseText({ phase: 'suppressed', gate: 'PAUSED' })).toBe('blocked by PAUSED');
    expect(phaseText({ phase: 'suppressed' })).toBe('blocked by a gate');
    expect(phaseText({ phase: 'failed' })).toBe('failed');
    expect(phaseText({ phase: 'failed', gate: 'CAP' })).toBe('failed (CAP)');
  });

  it('is said with what came of it, and the gate once', () => {
    const step = (phase: string, detail: string, gate?: string): string => stepText({ phase, detail, gate });
    expect(step('suppressed', 'CAP: 2 of 2', 'CAP')).toBe('blocked by CAP: 2 of 2');
    expect(step('suppressed', 'ann paused fencing: smoke.', 'PAUSED')).toBe(
      'blocked by PAUSED: ann paused fencing: smoke.',
    );
    expect(step('suppressed', 'ann paused fencing: smoke.')).toBe('blocked by a gate: ann paused fencing: smoke.');
    expect(step('fenced', 'two off-reads')).toBe('fenced: two off-reads');
    expect(step('fenced', '')).toBe('fenced');
  });

  it('names the gate of the step, were the incident stopped by another one since', () => {
    expect(stepText({ phase: 'suppressed', detail: 'BRAKE: 3 of 4' })).toBe('blocked by BRAKE: 3 of 4');
    expect(stepText({ phase: 'suppressed', detail: 'BRAKE: 3 of 4', gate: 'CAP' })).toBe('blocked by BRAKE: 3 of 4');
  });
});
