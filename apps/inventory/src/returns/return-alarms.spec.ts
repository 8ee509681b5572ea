import { describe, expect, it } from '@jest/globals';
import { returnAlarm } from './return-alarms.reconciler.js';

describe('the alarm of a node that is back and does not serve', () => {
  const pending = { reason: 'rebooted', at: 1 } as const;

  it('is check-failed, with the service and why, from the third check on that could not be carried out', () => {
    const why = 'web could not be checked (no such module)';
    const after = (failedTries: number) => returnAlarm('a-1', { ...pending, failedTries, failedWhy: why });
    expect(after(2)).toBeUndefined();
    expect(after(3)).toMatchObject({ code: 'check-failed', severity: 'warning' });
    expect(after(40)?.message).toContain(`could not be carried out 40 times: ${why}`);
  });
  it('is check-unreachable while ssh does not get there, and drift where a person is waited for', () => {
    const unreached = { tries: 3, why: 'no route' };
    expect(returnAlarm('a-1', { ...pending, failedTries: 9, failedWhy: 'x', unreached })?.code).toBe(
      'check-unreachable',
    );
    expect(returnAlarm('a-1', { ...pending, failedTries: 9, held: 'drift: web' })?.code).toBe('drift');
    expect(returnAlarm('a-1', pending)).toBeUndefined();
  });
});
