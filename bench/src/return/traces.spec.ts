import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../lab/src/fleet/event-feed.js';
import { ansibleMs, jobsOf, oddity, type ReturnJobs } from './traces.js';

const event = (kind: string, key: string, data: Record<string, unknown>): FeedEvent => ({
  ...{ seq: '1', kind, key, at: 0, data },
  arrivedNs: 0n,
});
const passed: ReturnJobs = { checks: [{ job: 'j1', pass: true }], resetups: [] };
const mended: ReturnJobs = { checks: [{ job: 'j1', pass: false }], resetups: [{ job: 'j2', ok: true }] };

describe('what is read of a return', () => {
  it('are the jobs of that node, from its events', () => {
    const events = [
      event('check', 'n1', { job: 'j1', pass: false }),
      event('check', 'n2', { job: 'j9', pass: true }),
      event('resetup', 'n1', { job: 'j2', ok: true }),
      event('in-service', 'n1', {}),
    ];
    expect(jobsOf(events, 'n1')).toEqual(mended);
  });

  it('is Ansible’s own time from the log of a job: of all its playbooks, and of nothing that only looks like it', () => {
    const log =
      'TASK [x]\n[muster] cleanup took 1200 ms\nhe said: [muster] site took 9 ms\n[muster] site took 3400.5 ms\n';
    expect(ansibleMs(log)).toBe(4600.5);
    expect(() => ansibleMs('TASK [x]\n')).toThrow('does not say how long Ansible ran');
  });
});

describe('a return counts only where it did what one of its kind does', () => {
  it('with nothing changed its check passes, and nothing is set up', () => {
    expect(oddity('check', passed, undefined, 'web')).toBeUndefined();
    expect(oddity('check', mended, undefined, 'web')).toBe('its check found something');
    expect(oddity('check', { ...passed, resetups: mended.resetups }, undefined, 'web')).toBe('it was set up again');
    expect(oddity('check', { checks: [], resetups: [] }, undefined, 'web')).toBe('0 checks were told, not one');
  });

  it('with a service broken all of it is set up again', () => {
    expect(oddity('resetup', mended, undefined, 'web')).toBeUndefined();
    expect(oddity('resetup', passed, undefined, 'web')).toBe('its check passed');
    expect(oddity('resetup', mended, ['web'], 'web')).toBe('only web was set up again');
    expect(oddity('resetup', { ...mended, resetups: [{ job: 'j2', ok: false }] }, undefined, 'web')).toBe(
      'its re-setup failed',
    );
    expect(oddity('resetup', { ...mended, resetups: [] }, undefined, 'web')).toBe('0 re-setups were told, not one');
  });

  it('with one drifted only that one is', () => {
    expect(oddity('partial', mended, ['web'], 'web')).toBeUndefined();
    expect(oddity('partial', mended, undefined, 'web')).toBe('set up again was all of it');
    expect(oddity('partial', mended, ['web', 'db'], 'web')).toBe('set up again was web, db');
  });
});
