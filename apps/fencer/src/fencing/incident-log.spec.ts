import { describe, expect, it } from '@jest/globals';
import type { IncidentRecord } from '#contracts';
import { toPhase, withEnd, withIntent } from './incident-log.js';
import { latestOff } from './levels.js';

const by = { token: 1, fencer: 'f', at: 1 };
const begun: IncidentRecord = {
  id: 'i',
  node: 'n',
  phase: 'fencing',
  cause: 'auto',
  reason: '',
  openedAt: 0,
  updatedAt: 0,
  gates: [],
  conductor: 1,
  level: 0,
  attempt: 0,
  commands: [],
  recovery: [],
  steps: [{ phase: 'fencing', at: 0, detail: 'first' }],
};

/** Every attempt orders each of two devices off three times, in vain. */
function refused(attempts: number): IncidentRecord {
  let i = begun;
  for (let attempt = 0; attempt < attempts; attempt++) {
    i = { ...i, phase: 'fencing', attempt };
    for (const device of ['bmc', 'pdu'])
      for (let k = 0; k < 3; k++) {
        // The second device is only there in the beginning.
        if (device === 'pdu' && attempt > 3) continue;
        const { record, n } = withIntent(i, { device, verb: 'off', level: 0 }, [], by);
        const outcome = { ok: false, code: 'BMC_AUTH' as const, detail: 'refused', tookMs: 5 };
        i = withEnd(record, { incident: 'i', n, epoch: 1 }, outcome, 2) ?? record;
      }
    i = toPhase(i, 'failed', `attempt ${attempt}`, by);
  }
  return i;
}

describe('the record of an incident', () => {
  it('does not grow without end, whatever a BMC refuses for how long', () => {
    const short = refused(300);
    const long = refused(1000);
    expect(long.commands.length).toBeLessThanOrEqual(400);
    expect(JSON.stringify(long.commands).length).toBeLessThan(JSON.stringify(short.commands).length * 1.1);
  });

  it('keeps how it began, the present attempt, the last off of every device, and its numbers', () => {
    const long = refused(1000);
    const of = (attempt: number): number => long.commands.filter((c) => c.attempt === attempt).length;
    expect([of(0), of(998), of(999)]).toEqual([6, 3, 3]);
    expect(latestOff(long, 'pdu')?.command.attempt).toBe(3);
    expect(latestOff(long, 'bmc', { attempt: 999, level: 0 })?.count).toBe(3);
    const numbers = long.commands.map((c) => c.n);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.at(-1)).toBe(4 * 6 + 996 * 3);
  });
});
