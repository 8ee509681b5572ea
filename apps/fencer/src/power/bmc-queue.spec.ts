import { describe, expect, it } from 'vitest';
import type { PowerDevice } from '#contracts';
import { bmcAddress } from '../drivers/power-driver.js';
import { BmcQueue, Urgency } from './bmc-queue.js';

const device: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '192.0.2.1' };

describe('the queue of power commands', () => {
  it('has one command in flight per BMC, also where only one of two devices names the default port, by another driver', async () => {
    const queue = new BmcQueue();
    const first = await queue.turn(bmcAddress(device), Urgency.read);
    const other = { ...device, id: 'other', driver: 'redfish', port: 623 };
    let second = false;
    const waiting = queue.turn(bmcAddress(other), Urgency.off).then((turn) => {
      second = true;
      return turn;
    });
    await queue.turn(bmcAddress({ ...device, address: '192.0.2.2' }), Urgency.read);
    expect(second).toBe(false);
    first?.end();
    (await waiting)?.end();
    expect(second).toBe(true);
  });
});
