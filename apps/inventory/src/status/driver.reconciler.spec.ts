import { beforeEach, describe, expect, it } from 'vitest';
import type { AlarmRecord } from '#contracts';
import type { AlarmService } from '../alarms/alarm.service.js';
import { SETTLE_MS } from '../conductor/settling.js';
import type { ServiceView } from '../nodes/service-view.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { playRun } from '../testing/play-run.js';
import { DriverReconciler } from './driver.reconciler.js';

describe('a driver that nobody offers', () => {
  let missing: { driver: string; nodes: string[] }[];
  let stale: boolean;
  let now: number;
  let term: number;
  let said: string[];
  let standing: AlarmRecord | undefined;
  let sut: DriverReconciler;

  beforeEach(() => {
    [missing, stale, now, term, said, standing] = [
      [{ driver: 'ipmitool', nodes: ['n-1'] }],
      false,
      0,
      1,
      [],
      undefined,
    ];
    const alarms = {
      list: () => [],
      raise: async (code: 'no-workers', subject: string) => {
        if (standing?.cleared !== undefined || standing === undefined) said.push(`raised ${subject}`);
        standing = { code, subject, severity: 'critical', message: '', since: 0, count: 1 };
        return Promise.resolve(standing);
      },
      clear: async (_code: string, subject: string) => {
        said.push(`cleared ${subject}`);
        standing = undefined;
        return Promise.resolve();
      },
    };
    const store = {
      clock: { monotonicMs: () => now },
      nodes: { view: { live: true } },
      workers: {
        get stale() {
          return stale;
        },
        live: () => [],
      },
      alarms: { view: { entries: () => (standing ? [{ value: standing }] : []) } },
      bus: { emit: async () => Promise.resolve() },
    };
    sut = new DriverReconciler(
      store as unknown as InventoryStore,
      { missingDrivers: () => missing } as unknown as ServiceView,
      alarms as unknown as AlarmService,
    );
  });

  const round = async (at: number): Promise<void> => {
    now = at;
    await playRun(sut, { token: term, now });
  };

  it('is an alarm after its time, once, and until one does', async () => {
    for (const at of [0, SETTLE_MS - 1, SETTLE_MS, SETTLE_MS + 1]) await round(at);
    expect(said).toEqual(['raised ipmitool']);
    missing = [];
    await round(SETTLE_MS + 2);
    expect(said).toEqual(['raised ipmitool', 'cleared ipmitool']);
  });

  it('is none after a restart: neither of its worker, nor of inventory, nor of NATS', async () => {
    await round(0);
    missing = [];
    await round(SETTLE_MS - 1);
    missing = [{ driver: 'ipmitool', nodes: ['n-1'] }];
    await round(SETTLE_MS);
    term = 2;
    await round(SETTLE_MS + 10_000);
    await round(2 * SETTLE_MS + 5_000);
    stale = true;
    await round(2 * SETTLE_MS + 6_000);
    stale = false;
    await round(3 * SETTLE_MS);
    await round(3 * SETTLE_MS + 6_000);
    expect(said).toEqual([]);
  });

  it('stays the alarm that it is over a restart of inventory', async () => {
    await round(0);
    await round(SETTLE_MS);
    term = 2;
    await round(SETTLE_MS + 1);
    await round(2 * SETTLE_MS + 1);
    expect(said).toEqual(['raised ipmitool']);
  });
});
