import { expect, it } from 'vitest';
import { silentLog, systemClock } from '#bus';
import type { ErrorCode, PowerDevice } from '#contracts';
import { DriverWatch } from '../drivers/driver-watch.js';
import { watchedPower } from './watched-power.js';

const device: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '192.0.2.1' };

it('a driver that a command could not start is failing at once, a minute before its next test', async () => {
  const watch = new DriverWatch({
    clock: systemClock,
    log: silentLog,
    drivers: { test: () => Promise.resolve(['ipmitool']) },
  });
  await watch.start();
  watch.stop();
  const failingAfter = async (code?: ErrorCode): Promise<string[]> => {
    const run = () => Promise.resolve({ ok: code === undefined, tookMs: 1, ...(code !== undefined && { code }) });
    const identify = () => Promise.resolve({ seen: {} });
    await watchedPower({ run, identify }, watch).run(device, 'off', { atNs: () => 0n });
    return watch.failing();
  };
  // What a device answers, or does not, is no word on the driver; nor is what was never begun.
  expect(await failingAfter('BMC_TIMEOUT')).toEqual([]);
  expect(await failingAfter('DRIVER_UNAVAILABLE')).toEqual(['ipmitool']);
  expect(await failingAfter('DEADLINE_PASSED')).toEqual(['ipmitool']);
  expect(await failingAfter()).toEqual([]);
});
