import { describe, expect, it } from 'vitest';
import { IncidentPhases, type IncidentRecord } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import { MOST_STEPS } from '#domain/incident/steps.js';
import { toLevel, toPhase, withDenials, withDriverBack, withEnd, withIntent } from './incident-log.js';
import { latestOff } from '#domain/power/levels.js';

const by = { token: 1, fencer: 'f', at: 1 };
const begun = anIncident('n', { phase: 'fencing', steps: [{ phase: 'fencing', at: 0, detail: 'first' }] });

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

  it('keeps its story within bounds, however often the fencer tells of levels and failures', () => {
    let i = begun;
    for (let n = 0; n < 300; n++) i = toLevel(i, 1, `level ${n}`, by);
    expect(i.steps).toHaveLength(MOST_STEPS);
    expect(toPhase(i, 'failed', 'in vain', by).steps).toHaveLength(MOST_STEPS);
    const driven = withDriverBack({ ...toPhase(i, 'failed', 'in vain', by), lacking: ['ipmitool'] }, 'ipmitool', by);
    expect([driven.steps.length, driven.lacking]).toEqual([MOST_STEPS, undefined]);
  });

  it('is changed in nothing by a leader whose token is older than the one that has written it', () => {
    const later = { ...begun, epoch: by.token + 1, lacking: ['ipmitool'] };
    const device = { device: 'bmc', verb: 'off', level: 0 } as const;
    const changes: ((i: IncidentRecord) => unknown)[] = [
      (i) => withIntent(i, device, [], by),
      (i) => withDenials(i, {}, by),
      (i) => toPhase(i, 'fenced', 'read as off', by),
      (i) => toLevel(i, 1, 'next', by),
      (i) => withDriverBack(i, 'ipmitool', by),
    ];
    for (const change of changes) {
      expect(() => change(later)).toThrow('a later fencing leader (2) has taken over n');
      expect(() => change({ ...later, epoch: by.token })).not.toThrow();
    }
  });

  it('is not proven off, nor failed, by a fencer whose fencing is over', () => {
    for (const phase of IncidentPhases.filter((p) => p !== 'fencing'))
      for (const to of ['fenced', 'failed'] as const)
        expect(() => toPhase({ ...begun, phase }, to, 'late', by)).toThrow('it cannot become');
  });
});
