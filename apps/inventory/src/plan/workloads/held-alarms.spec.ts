import { describe, expect, it } from 'vitest';
import { HeldAlarms } from './held-alarms.js';

const alarm = (subject: string, message = '') => ({
  code: 'workload-held' as const,
  subject,
  severity: 'critical' as const,
  message,
});

describe('alarms of workloads', () => {
  it('tell nothing that others may only not have said yet, and end none, until all have been heard', () => {
    const sut = new HeldAlarms();
    sut.set('db', alarm('db', 'n-1 does not say what it runs'));
    sut.setFailed('web', alarm('web', 'its start failed'));
    sut.setCertain('wiki', alarm('wiki', 'it may run on the dead'));
    expect(sut.wanted(false)).toEqual([alarm('web', 'its start failed'), alarm('wiki', 'it may run on the dead')]);
    expect(sut.isOver(alarm('cache'), false)).toBe(false);
    expect(sut.wanted(true).map((a) => a.subject)).toEqual(['web', 'db', 'wiki']);
    expect(sut.isOver(alarm('cache'), true)).toBe(true);
  });

  it('end only where nothing hinders the workload', () => {
    const sut = new HeldAlarms();
    sut.tooYoung('db');
    expect(sut.isOver(alarm('db'), true)).toBe(false);
  });

  it('say of several reasons what is certain, then what stands in the way now, then what has failed', () => {
    const sut = new HeldAlarms();
    for (const workload of ['db', 'web']) {
      sut.set(workload, alarm(workload, 'no room'));
      sut.setFailed(workload, alarm(workload, 'its start failed'));
    }
    sut.setCertain('db', alarm('db', 'it may run on the dead'));
    expect(sut.wanted(true)).toEqual([alarm('db', 'it may run on the dead'), alarm('web', 'no room')]);
    expect(sut.wanted(false)).toEqual([alarm('db', 'it may run on the dead'), alarm('web', 'its start failed')]);
  });
});
