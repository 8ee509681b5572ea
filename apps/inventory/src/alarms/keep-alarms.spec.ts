import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../testing/memory-store.js';
import { AlarmService } from './alarm.service.js';
import { keepAlarms, type WantedAlarm } from './keep-alarms.js';

const wanted: WantedAlarm = { code: 'no-room', subject: 'web', severity: 'warning', message: 'There is no room.' };

describe('alarms that one place alone is responsible for', () => {
  const store = new MemoryStore();
  const alarms = new AlarmService(store.asStore);
  const keep = (...all: WantedAlarm[]): Promise<void> | undefined =>
    keepAlarms(alarms, ['no-room'], all, () => undefined);
  const up = (): string[] => alarms.list().map((a) => a.subject);

  it('are raised and cleared, and each change is shown', async () => {
    await keep(wanted, { ...wanted, subject: 'db' });
    expect(up().sort()).toEqual(['db', 'web']);
    await keep(wanted);
    expect(up()).toEqual(['web']);
    await keep({ ...wanted, message: 'There is none at all.' });
    expect(alarms.list().map((a) => a.message)).toEqual(['There is none at all.']);
    await keep();
    expect(up()).toEqual([]);
    expect(alarms.list(true)).toHaveLength(2);
  });

  it('have nothing to wait for where none is wanted and none is up', () => {
    expect(keep()).toBeUndefined();
  });

  it('leave those of others alone', async () => {
    await alarms.raise('blind', 'fleet', 'critical', 'Nobody reports.');
    expect(keep()).toBeUndefined();
    expect(up()).toEqual(['fleet']);
  });

  it('are not cleared before they are over', async () => {
    await keep(wanted);
    expect(
      keepAlarms(
        alarms,
        ['no-room'],
        [],
        () => undefined,
        () => false,
      ),
    ).toBeUndefined();
    expect(up()).toContain('web');
  });
});
