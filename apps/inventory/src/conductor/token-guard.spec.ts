import { describe, expect, it } from 'vitest';
import { behindAlarms } from './token-guard.js';

const lease = (name: string, token: number, holder?: string) => ({ name, token, ageMs: 0, ...(holder && { holder }) });

describe('a lease whose token is behind', () => {
  it('is an alarm that names it, what its records hold, and what to do', () => {
    const leases = [
      lease('fencer', 3, 'fencer-1'),
      lease('conductor', 9, 'inventory-1'),
      lease('job.toString', 1, 'p'),
    ];
    const alarms = behindAlarms(leases, { fencer: 4, conductor: 9, detector: 100 });
    expect(alarms).toMatchObject([{ code: 'token-behind', subject: 'fencer', severity: 'critical' }]);
    expect(alarms[0]?.message).toContain('token 3, and records hold 4');
  });

  it('is none while nobody holds it', () => {
    expect(behindAlarms([lease('fencer', 3)], { fencer: 4 })).toEqual([]);
  });
});
