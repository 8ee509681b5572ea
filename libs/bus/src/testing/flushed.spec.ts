import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Bus, connectBus } from '../index.js';
import { flushed } from './flushed.js';
import { startTestNats, type TestNats } from './nats.js';

describe('flushed', () => {
  let nats: TestNats;
  let bus: Bus;
  beforeEach(async () => {
    nats = await startTestNats();
    bus = await connectBus({ name: 'spec', servers: [nats.url] });
  });
  afterEach(async () => {
    await bus.close();
    await nats.stop();
  });

  it('waits for the next connection where the one that it asked breaks', async () => {
    await nats.pause();
    const done = flushed(bus.nc);
    await nats.restart();
    await expect(done).resolves.toBeUndefined();
    expect(bus.nc.isClosed()).toBe(false);
  });

  it('rejects on a connection that was closed for good', async () => {
    await bus.close();
    await expect(flushed(bus.nc)).rejects.toThrow(/closed/);
  });
});
