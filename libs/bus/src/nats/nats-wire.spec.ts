import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import { connectBus, type Bus } from '../index.js';
import { freePort } from '../testing/free-port.js';
import { connectionOf } from '../testing/connection-of.js';
import { anyJson } from '../testing/any-json.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

describe('connecting', () => {
  it('fails with one clear sentence when no server answers in time', async () => {
    const server = `nats://127.0.0.1:${await freePort()}`;
    const begun = performance.now();
    const connecting = connectBus({ codec: anyJson, name: 'x', servers: [server], connectTimeoutMs: 600 });
    await expect(connecting).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
      message: expect.stringMatching(new RegExp(`^no NATS server answered at ${server} within 0.6 s \\(.*\\)$`)),
    });
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe('a connection', () => {
  let nats: TestNats;
  let bus: Bus;
  beforeEach(async () => {
    nats = await startTestNats();
    bus = await connectBus({ codec: anyJson, name: 'x', servers: [nats.url] });
    await bus.createBuckets();
  });
  afterEach(async () => {
    await bus?.close();
    await nats?.stop();
  });

  it('says when it is lost and when it is back', async () => {
    const told: string[] = [];
    let wake: () => void = () => undefined;
    bus.onStatus((s) => {
      told.push(s);
      wake();
    });
    const turn = () => new Promise<void>((resolve) => (wake = resolve));
    let turned = turn();
    await nats.kill();
    await turned;
    expect(bus.connected).toBe(false);
    turned = turn();
    await nats.restart();
    await turned;
    expect(bus.connected).toBe(true);
    expect(told).toEqual(['disconnected', 'connected']);
  });

  it('drops what is published without it, instead of sending it late', async () => {
    const heard: string[] = [];
    bus.subscribe('muster.report.*', (text) => heard.push(text));
    await nats.kill();
    bus.publish('muster.report.n1', { seq: 1 });
    const back = new Promise<void>((resolve) => bus.onStatus((s) => s === 'connected' && resolve()));
    await nats.restart();
    await back;
    bus.publish('muster.report.n1', { seq: 2 });
    await bus.flushed();
    expect(heard).toEqual(['{"seq":2}']);
  });

  it('is flushed on the next one where the one that was asked breaks, and never once it was closed', async () => {
    await nats.pause();
    const done = bus.flushed();
    await nats.restart();
    await expect(done).resolves.toBeUndefined();
    await bus.close();
    await expect(bus.flushed()).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
  });

  it('answers plain requests, and brings errors across', async () => {
    bus.answer<{ n: number }, { n: number }>('muster.peers.*', ({ n }, subject) => {
      if (n === 0) throw new MusterError('NOT_FOUND', `zero on ${subject}`);
      if (n < 0) throw new Error('a path of this machine');
      return { n: n + 1 };
    });
    expect(await bus.ask('muster.peers.n1', { n: 1 })).toEqual({ n: 2 });
    await expect(bus.ask('muster.peers.n1', { n: 0 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'zero on muster.peers.n1',
    });
    const internal = await bus.ask('muster.peers.n1', { n: -1 }).catch((e: unknown) => e as MusterError);
    expect(internal).toMatchObject({ code: 'INTERNAL' });
    expect(String(internal)).not.toContain('path');
    const raw = await connectionOf(bus).request('muster.peers.n1', '{');
    expect(raw.json()).toMatchObject({ code: 'BAD_REQUEST' });
    await expect(bus.ask('muster.gate.n1', {})).rejects.toMatchObject({ code: 'NO_RESPONDER' });
  });

  it('can be closed while the server is away', async () => {
    await nats.kill();
    const begun = performance.now();
    await bus.close();
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it('refuses a bucket that exists with another shape, and leaves it alone', async () => {
    await bus.createBuckets();
    const before = await bus.bucket('leases').create('k', {});
    const is = (await connectionOf(bus).request('$JS.API.STREAM.INFO.KV_leases')).json<{ config: object }>();
    await connectionOf(bus).request(
      '$JS.API.STREAM.UPDATE.KV_leases',
      JSON.stringify({ ...is.config, max_msgs_per_subject: 5 }),
    );
    await expect(bus.createBuckets()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('KV_leases exists with max_msgs_per_subject 5 instead of 1'),
    });
    expect((await bus.bucket('leases').get('k'))?.revision).toBe(before);
  });
});
