import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Stalled } from '#bus';
import { hearWords } from '../testing/notify-socket.js';
import { notify, notifyOrder } from './notify-socket.js';
import { Watchdog } from './watchdog.js';

describe('what systemd asks for', () => {
  it('is read from the environment of a unit', () => {
    expect(notifyOrder({}, 7)).toBeUndefined();
    expect(notifyOrder({ NOTIFY_SOCKET: '/run/x' }, 7)).toEqual({ socket: '/run/x' });
    const asked = { NOTIFY_SOCKET: '/run/x', WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' };
    expect(notifyOrder(asked, 7)).toEqual({ socket: '/run/x', watchdogMs: 30_000 });
  });

  it('is nothing of a child that inherits it, and nothing where it is no time', () => {
    expect(notifyOrder({ NOTIFY_SOCKET: '/run/x', WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 8)).toEqual({
      socket: '/run/x',
    });
    for (const usec of ['0', '-5', 'soon', ''])
      expect(notifyOrder({ NOTIFY_SOCKET: '/x', WATCHDOG_USEC: usec }, 7)).toEqual({ socket: '/x' });
  });
});

describe('a service under systemd', () => {
  let told: string[];
  let said: string[];
  let stalled: Stalled[];
  let every: number | undefined;
  let tick: () => void;
  let answer: () => Promise<void>;

  beforeEach(() => {
    [told, said, stalled, every] = [[], [], [], undefined];
    answer = () => Promise.resolve();
  });
  const watchdog = (watchdogMs?: number): Watchdog =>
    new Watchdog({
      order: watchdogMs === undefined ? {} : { watchdogMs },
      clock: {
        every: (ms, fn) => {
          every = ms;
          tick = fn;
          return { cancel: () => (every = undefined) };
        },
      },
      notify: (...words) => (told.push(...words), answer()),
      stalled: () => stalled,
      say: (line) => said.push(line),
    });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('says that it is up, works and goes down, three times as often as it must', async () => {
    const dog = watchdog(30_000);
    dog.started();
    await settle();
    expect(every).toBe(10_000);
    tick();
    await settle();
    tick();
    await settle();
    await dog.stopping();
    expect(told).toEqual(['--ready', 'WATCHDOG=1', 'WATCHDOG=1', 'STOPPING=1']);
    expect(every).toBeUndefined();
  });

  it('has gone down only when that was heard: the word would end with the process', async () => {
    let heard = (): void => undefined;
    answer = () => new Promise((resolve) => (heard = resolve));
    let isDown = false;
    const down = watchdog()
      .stopping()
      .then(() => (isDown = true));
    await settle();
    expect([told, isDown]).toEqual([['STOPPING=1'], false]);
    heard();
    expect(await down).toBe(true);
  });

  it('does not say that it works while one of its tasks stands still, and names it once', async () => {
    watchdog(30_000).started();
    await settle();
    stalled = [{ task: 'lease fencer', forMs: 12_000 }];
    tick();
    tick();
    await settle();
    expect(told).toEqual(['--ready']);
    expect(said).toEqual([expect.stringContaining('lease fencer for 12 s')]);
    stalled = [];
    tick();
    await settle();
    expect(told).toEqual(['--ready', 'WATCHDOG=1']);
  });

  it('says it not again while the manager has not taken the word before, and tells once that it is not heard', async () => {
    let refuse = (_e: Error): void => undefined;
    watchdog(30_000).started();
    await settle();
    answer = () => new Promise((_resolve, reject) => (refuse = reject));
    tick();
    tick();
    expect(told).toEqual(['--ready', 'WATCHDOG=1']);
    refuse(new Error('systemd was not told'));
    await settle();
    expect(said).toEqual(['systemd was not told']);
  });

  it('says once more that it is up where that was not heard', async () => {
    answer = () => Promise.reject(new Error('systemd was not told'));
    watchdog(30_000).started();
    await settle();
    answer = () => Promise.resolve();
    tick();
    await settle();
    tick();
    await settle();
    expect(told).toEqual(['--ready', '--ready', 'WATCHDOG=1']);
  });

  it('needs no timer where systemd does not ask for a watchdog', () => {
    watchdog().started();
    expect([every, told]).toEqual([undefined, ['--ready']]);
  });
});

describe('a word to systemd', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-notify-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('arrives at its socket, by systemd’s own program', async () => {
    const socket = join(dir, 'notify');
    const systemd = await hearWords(socket);
    try {
      await notify(socket, 'WATCHDOG=1');
      await systemd.until('WATCHDOG=1');
      await notify(socket, '--ready');
      await systemd.until('READY=1');
    } finally {
      await systemd.close();
    }
  });

  it('that nobody takes is an error that says so', async () => {
    await expect(notify(join(dir, 'nobody'), 'WATCHDOG=1')).rejects.toMatchObject({ code: 'COMMAND_FAILED' });
  });
});
