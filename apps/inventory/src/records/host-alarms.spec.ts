import { describe, expect, it } from 'vitest';
import type { AlarmRecord } from '#contracts';
import type { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import { isOfHost } from './host-alarms.js';
import { expiryAlarms } from './nats-tls.js';
import { spaceAlarms } from './store-space.js';

const DAY_MS = 86_400_000;
const hosts = ['ctl1', 'ctl2', 'x.ctl1'];

describe('alarms of what a control host alone sees', () => {
  /** One bucket, in which all inventories write; each write is a line. */
  function shared(...first: string[]) {
    const active = new Map<string, AlarmRecord>();
    const written: string[] = [];
    const alarms = {
      list: () => [...active.values()],
      raise: (code: string, subject: string, severity: string, message: string) => {
        if (active.get(subject)?.message !== message) written.push(`raised ${subject}`);
        active.set(subject, { code, subject, severity, message, since: 1, count: 1 } as AlarmRecord);
        return Promise.resolve();
      },
      clear: (_code: string, subject: string) => {
        written.push(`cleared ${subject}`);
        active.delete(subject);
        return Promise.resolve();
      },
    } as unknown as AlarmService;
    for (const subject of first) void alarms.raise('certificate-expires', subject, 'warning', 'before');
    written.length = 0;
    /** One look of the inventory on a host, whose certificate of NATS lasts so many days. */
    const look = (host: string | undefined, days: number): Promise<void> | undefined =>
      keepAlarms(
        alarms,
        ['certificate-expires'],
        expiryAlarms('nats', days * DAY_MS, 0, host),
        () => undefined,
        (a) => isOfHost(a.subject, host),
      );
    return { written, look };
  }

  it('name the host, and are raised and ended once, however many look', async () => {
    const { written, look } = shared();
    const days = new Map(hosts.map((host, i) => [host, [20, 400, 10][i]!]));
    for (let round = 0; round < 3; round++) for (const host of hosts) await look(host, days.get(host)!);
    expect(written).toEqual(['raised nats.ctl1', 'raised nats.x.ctl1']);
    await look('ctl1', 700);
    for (const host of ['ctl2', 'x.ctl1']) await look(host, days.get(host)!);
    expect(written.slice(2)).toEqual(['cleared nats.ctl1']);
    expect(expiryAlarms('nats', DAY_MS, 0, 'ctl1')[0]?.message).toBe(
      'The certificate of NATS on ctl1 ends 1970-01-02.',
    );
  });

  it('are ended by any host where they are of the time when there was one, and by the one that is left', async () => {
    const grown = shared('nats');
    await grown.look('ctl2', 400);
    expect(grown.written).toEqual(['cleared nats']);
    const shrunk = shared('nats.ctl1', 'nats.ctl2');
    await shrunk.look(undefined, 400);
    expect(shrunk.written).toEqual(['cleared nats.ctl1', 'cleared nats.ctl2']);
  });

  it('name the host whose disk it is, too', () => {
    const full = { path: '/', freeBytes: 0, totalBytes: 1e9 };
    const stands = spaceAlarms(full, [], 'ctl1');
    expect(stands.map((a) => a.subject)).toEqual(['disk.ctl1']);
    // What cannot be asked stays as it is: of this host, not of another.
    const before = stands.map((a) => ({ ...a, since: 1, count: 1 })) as AlarmRecord[];
    expect(spaceAlarms(undefined, before, 'ctl1')).toHaveLength(1);
    expect(spaceAlarms(undefined, before, 'ctl2')).toEqual([]);
  });
});
