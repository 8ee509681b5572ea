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
    sut.setCertain('web', alarm('web', 'its start failed'));
    expect(sut.wanted(false)).toEqual([alarm('web', 'its start failed')]);
    expect(sut.isOver(alarm('cache'), false)).toBe(false);
    expect(sut.wanted(true).map((a) => a.subject)).toEqual(['db', 'web']);
    expect(sut.isOver(alarm('cache'), true)).toBe(true);
  });

  it('end only where nothing hinders the workload, and say of two reasons the one in the records', () => {
    const sut = new HeldAlarms();
    sut.tooYoung('db');
    sut.set('web', alarm('web', 'no room'));
    sut.setCertain('web', alarm('web', 'its start failed'));
    expect(sut.isOver(alarm('db'), true)).toBe(false);
    expect(sut.wanted(true)).toEqual([alarm('web', 'its start failed')]);
  });
});
