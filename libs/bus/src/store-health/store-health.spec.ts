import { describe, expect, it } from 'vitest';
import { hasRoom, isFull, sizeText, spaceWarning, storeFault, type StoreFacts } from './store-health.js';

const MiB = 1024 * 1024;
const disk = (freeMiB: number, totalMiB = 1000) => ({
  path: '/srv/nats',
  totalBytes: totalMiB * MiB,
  freeBytes: freeMiB * MiB,
});
const whole: StoreFacts = {
  connected: true,
  disk: disk(500),
  silentForMs: 0,
  missing: [],
  missingForMs: 0,
  wasWhole: true,
  restartsItself: false,
};
const told = (f: Partial<StoreFacts>): string | undefined => storeFault({ ...whole, ...f })?.message;
const { disk: _disk, ...elsewhere } = whole;

describe('the fault of a store', () => {
  it('is none while it answers, knows its streams and has room', () => {
    expect(told({})).toBeUndefined();
    expect(storeFault(elsewhere)).toBeUndefined();
  });

  it('is a full disk, named with its place and what to do, whether or not NATS can be reached', () => {
    for (const connected of [true, false])
      expect(told({ disk: disk(0), connected, silentForMs: 60_000, missing: ['KV_nodes'] })).toBe(
        'The disk under NATS is full: 0 B free of 1000 MiB at /srv/nats. Make room there, then restart nats-server: it does not write again by itself.',
      );
    expect(told({ disk: disk(0), restartsItself: true })).toMatch(/Muster then goes on by itself within 15 s\.$/);
  });

  it('is a silence of 3 s while NATS is connected; where nobody can see the disk, that is the first suspect', () => {
    expect(told({ silentForMs: 2_999 })).toBeUndefined();
    expect(told({ silentForMs: 3_000 })).toBe(
      'NATS is connected, and its store has not answered for 3 s: its disk has room (500 MiB free of 1000 MiB at /srv/nats); after a full disk nats-server does not go on by itself: restart it.',
    );
    expect(storeFault({ ...elsewhere, silentForMs: 4_000 })?.message).toContain(
      'its disk may be full. Look there (df)',
    );
    expect(told({ silentForMs: 4_000, restartsItself: true })).toContain('nats-server is being restarted');
  });

  it('is a cluster that acknowledges no write for 2 s, whatever it says to reads', () => {
    expect(told({ unwrittenForMs: 1_999 })).toBeUndefined();
    expect(told({ unwrittenForMs: 2_000 })).toMatch(
      /^NATS has acknowledged no write for 2 s: too few of its servers run/,
    );
    expect(told({ unwrittenForMs: 60_000, connected: false })).toBeUndefined();
  });

  it('is nothing that could be told of a store without a connection to NATS', () => {
    expect(told({ connected: false, silentForMs: 60_000, missing: ['KV_nodes'] })).toBeUndefined();
  });

  it('is a stream that was there before, at once; in an installation that has just begun, after 15 s', () => {
    expect(told({ missing: ['KV_nodes'] })).toBe(
      'The store of NATS is incomplete: KV_nodes is missing. The log of nats-server says why (a disk too small for them?); make room and restart it, and do not restart inventory before.',
    );
    expect(told({ missing: ['A', 'B'], wasWhole: false, missingForMs: 14_999 })).toBeUndefined();
    expect(told({ missing: ['A', 'B'], wasWhole: false, missingForMs: 15_000 })).toContain('A, B are missing');
  });
});

describe('what anybody is told of it', () => {
  it.each([
    ['The disk under NATS is full:', { disk: disk(0) }],
    ['NATS is connected, and its store does not answer:', { silentForMs: 4_000 }],
    ['The store of NATS is incomplete:', { missing: ['KV_nodes'] }],
  ])('is one line that says neither where nor how much nor of what: %s', (beginning, facts) => {
    const summary = storeFault({ ...whole, ...facts })?.summary ?? '';
    expect(summary.startsWith(beginning)).toBe(true);
    expect(summary).not.toMatch(/\/|\d|KV_|\n/);
  });
});

describe('the space of a disk', () => {
  it('is a warning from 80 % on, critical from 95 % on or where it is full, and says the place', () => {
    expect(spaceWarning(disk(201))).toBeUndefined();
    expect(spaceWarning(disk(200))).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/^The disk under NATS, \/srv\/nats, is 80 % full or more\. .*make room there\.$/),
    });
    expect(spaceWarning(disk(240), true)).toMatchObject({ severity: 'warning' });
    expect(spaceWarning(disk(251), true)).toBeUndefined();
    expect(spaceWarning(disk(50))).toMatchObject({ severity: 'critical' });
    expect(spaceWarning(disk(3, 16))).toMatchObject({ severity: 'critical' });
  });

  it('is full below 4 MiB, and there again from 16 MiB on, of a tiny disk from its half on', () => {
    expect([disk(3.9), disk(4)].map(isFull)).toEqual([true, false]);
    expect([disk(15.9), disk(16), disk(7.9, 16), disk(8, 16)].map(hasRoom)).toEqual([false, true, false, true]);
  });

  it('is told in the units of df', () => {
    expect([0, 1023, 1536, 20 * MiB, 4.2 * 1024 * MiB].map(sizeText)).toEqual([
      '0 B',
      '1023 B',
      '1.5 KiB',
      '20 MiB',
      '4.2 GiB',
    ]);
  });
});
