import { expect, it } from 'vitest';
import { MusterError, type AlarmRecord } from '#contracts';
import { AlarmService } from '../alarms/alarm.service.js';
import type { VerdictService } from '../node-state/verdict.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import type { VerdictNow } from '../verdicts/verdict-now.js';
import { MessageWriter } from './message-writer.js';

const up: AlarmRecord = {
  ...{ code: 'fencing-failed', subject: 'n-1', severity: 'critical', message: 'no answer' },
  ...{ since: 1, count: 1 },
};

/** The lease is lost while the record is read that the write would replace. */
function world(was: AlarmRecord | undefined) {
  const written: (AlarmRecord | undefined)[] = [];
  let isHeld = true;
  const bucket = {
    mutate: async (_key: string, fn: (current?: { value: AlarmRecord }) => AlarmRecord | undefined) => {
      isHeld = false;
      await Promise.resolve();
      const next = fn(was && { value: was });
      if (next !== undefined) written.push(next);
      return { value: next ?? was, revision: 1, changed: next !== undefined };
    },
  };
  const store = {
    alarms: { bucket, view: { get: () => was && { value: was }, live: true } },
    clock: { wallMs: () => 5 },
    bus: { emit: () => Promise.resolve() },
  } as unknown as InventoryStore;
  const check = (): number => {
    if (!isHeld) throw new MusterError('LEASE_LOST', 'another may be the conductor');
    return 7;
  };
  const sut = new MessageWriter(store, new AlarmService(store), {} as VerdictNow, {} as VerdictService);
  return { sut, written, right: { token: 7, check } };
}

const intended = { about: {}, reason: '' };
const { code, subject, severity, message } = up;

it('raises no alarm once another may be the conductor, who knows better whether it stands', async () => {
  const { sut, written, right } = world(undefined);
  const raise = { ...intended, do: 'raise-alarm', alarm: { code, subject, severity, message } } as const;
  await expect(sut.raise(raise, right)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(written).toEqual([]);
});

it('clears no alarm once another may be the conductor, who may have raised it', async () => {
  const { sut, written, right } = world(up);
  const clear = { ...intended, do: 'clear-alarm', code, subject } as const;
  await expect(sut.clear(clear, right)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(written).toEqual([]);
});

it('has nothing to refuse where nothing is to be written', async () => {
  const cleared = world({ ...up, cleared: 2 });
  await cleared.sut.clear({ ...intended, do: 'clear-alarm', code, subject }, cleared.right);
  expect(cleared.written).toEqual([]);
});
