import { describe, expect, it } from 'vitest';
import { silentLog } from '#bus';
import { systemClock } from '#bus/system/system-clock.js';
import type { AlarmRecord, MusterEvent, Webhook } from '#contracts';
import { FAILURES_UNTIL_ALARM, isWanted, pauseAfter, RETRY_FOR_MS } from './hook-policy.js';
import { worstOf } from '../severity.js';
import { HookSender } from './hook-sender.js';

const hook: Webhook = { name: 'pager', url: 'http://x' };
const alarm = (o: Partial<AlarmRecord> = {}): AlarmRecord => ({
  code: 'no-room',
  subject: 'db',
  severity: 'warning',
  message: 'm',
  since: 1,
  count: 1,
  ...o,
});
const event = (id: string, o: Partial<AlarmRecord> = {}): MusterEvent<'alarm'> => ({
  id,
  kind: 'alarm',
  key: 'no-room',
  at: 1,
  source: 's',
  data: alarm(o),
});

describe('an alarm is for a hook', () => {
  it('from its least severity on, warning where none is given', () => {
    expect(isWanted(hook, alarm())).toBe(true);
    expect(isWanted(hook, alarm({ severity: 'info' }))).toBe(false);
    expect(isWanted({ ...hook, severity: 'info' }, alarm({ severity: 'info' }))).toBe(true);
    expect(isWanted({ ...hook, severity: 'critical' }, alarm())).toBe(false);
  });

  it('to its end, once it was told of its beginning', () => {
    const was = alarm({ severity: 'critical' });
    const milder = alarm({ severity: 'info', ...worstOf(was, 'info') });
    const cleared = { ...milder, cleared: 2 };
    for (const later of [milder, cleared]) expect(isWanted({ ...hook, severity: 'critical' }, later)).toBe(true);
    expect(worstOf(milder, 'warning')).toEqual({ worst: 'critical' });
    expect(worstOf(milder, 'critical')).toEqual({});
    expect(worstOf(alarm({ severity: 'info' }), 'warning')).toEqual({});
  });

  it('unless it is about the hook itself', () => {
    const failing = alarm({ code: 'webhook-failing', subject: 'pager' });
    expect(isWanted(hook, failing)).toBe(false);
    expect(isWanted({ ...hook, name: 'other' }, failing)).toBe(true);
  });
});

/** A sender whose other side answers as it is told, in a time of its own. */
function sending(answers: (string | undefined)[], o: { hook?: () => Webhook | undefined } = {}) {
  const seen = { sent: [] as string[], pauses: [] as number[], alarms: [] as string[], now: 0 };
  const stop = new AbortController();
  const sut = new HookSender({
    name: 'pager',
    hook: o.hook ?? (() => hook),
    post: (_hook, e) => {
      seen.sent.push(e.id);
      return Promise.resolve(answers.length > 1 ? answers.shift() : answers[0]);
    },
    alarms: {
      raise: (code, subject, severity, message) => {
        seen.alarms.push(`${code} ${subject} ${severity}: ${message}`);
        return Promise.resolve(alarm());
      },
      clear: (code, subject) => {
        seen.alarms.push(`clear ${code} ${subject}`);
        return Promise.resolve();
      },
    },
    log: silentLog,
    clock: {
      ...systemClock,
      monotonicMs: () => seen.now,
      sleep: (ms) => {
        seen.pauses.push(ms);
        seen.now += ms;
        return Promise.resolve();
      },
    },
  });
  return { sut, seen, stop, deliver: (id: string) => sut.deliver(event(id), stop.signal) };
}

describe('sending to a hook', () => {
  it('tries again, at ever longer times, and tells of it after some failures until one succeeds', async () => {
    const { deliver, seen } = sending(['answers 500', 'answers 500', 'answers 500', 'ECONNREFUSED', undefined]);
    await deliver('a');
    expect(seen.sent).toEqual(['a', 'a', 'a', 'a', 'a']);
    expect(seen.pauses).toEqual([500, 1_000, 2_000, 4_000]);
    expect([7, 8, 9, 50].map(pauseAfter)).toEqual([32_000, 60_000, 60_000, 60_000]);
    expect(FAILURES_UNTIL_ALARM).toBe(3);
    expect(seen.alarms).toEqual([
      expect.stringMatching(/^webhook-failing pager warning: .*answers 500/),
      expect.stringMatching(/^webhook-failing pager warning: .*ECONNREFUSED/),
      'clear webhook-failing pager',
    ]);
  });

  it('gives an event up after an hour of failures, then each further one after one try, until the hook is well', async () => {
    const answers: (string | undefined)[] = ['answers 500'];
    const { deliver, seen } = sending(answers);
    await deliver('a');
    expect(seen.now).toBeGreaterThan(RETRY_FOR_MS);
    expect(seen.now).toBeLessThan(RETRY_FOR_MS + 60_000);
    seen.sent = [];
    await deliver('b');
    expect(seen.sent).toEqual(['b']);
    answers[0] = undefined;
    await deliver('c');
    answers[0] = 'answers 500';
    seen.sent = [];
    await deliver('d');
    expect(seen.sent.length).toBeGreaterThan(50);
  });

  it('ends when the hook is removed from the settings, or wants such alarms no more', async () => {
    let current: Webhook | undefined = hook;
    const { deliver, seen } = sending(['answers 500'], {
      hook: () => {
        if (seen.sent.length > 1) current = undefined;
        return current;
      },
    });
    await deliver('a');
    expect(seen.sent).toEqual(['a', 'a']);
  });

  it('leaves an event that has not arrived to another process when this one ends', async () => {
    const { deliver, stop } = sending(['it was ended from here']);
    stop.abort();
    await expect(deliver('a')).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
  });
});
