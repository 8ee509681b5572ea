import { expect, it } from 'vitest';
import { stepLevel, stepLine } from './step-log.js';

it('a step of an incident is logged with the node first, and with the gate that stops it', () => {
  const line = (phase: 'suppressed' | 'fenced', detail: string): string =>
    stepLine({ node: 'n-1', gate: phase === 'suppressed' ? 'CAP' : undefined }, { phase, detail, at: 1 });
  expect(line('suppressed', 'BRAKE: 3 of 4')).toBe('n-1: incident blocked by BRAKE: 3 of 4');
  expect(line('suppressed', 'ann paused fencing.')).toBe('n-1: incident blocked by CAP: ann paused fencing.');
  expect(line('fenced', '')).toBe('n-1: incident fenced');
  expect([stepLevel('suppressed'), stepLevel('recovering')]).toEqual(['warn', 'info']);
});
