import { expect } from 'vitest';
import type { WireStatus } from '#bus/ports/wire.js';
import type { CaseGroup } from './case-group.js';
import type { ContractBox } from './contract-box.js';
import type { ContractClient } from './contract-world.js';

export function coreCases({ it }: CaseGroup, c: ContractBox): void {
  it('brings an answer to who asked', async () => {
    c.b.wire.subscribe(`${c.box}.*`, {
      onMessage: (m) => m.respond(`${m.subject}: ${m.text}!`),
      onRefused: () => undefined,
    });
    await c.run(c.b.wire.flush());
    expect(await c.run(c.a.wire.request(`${c.box}.q`, 'hello', { timeoutMs: 1000 }))).toBe(`${c.box}.q: hello!`);
  });

  it('says at once that nobody listens, and later that nobody answered', async () => {
    await expect(c.run(c.a.wire.request(`${c.box}.q`, '', { timeoutMs: 5000 }))).rejects.toMatchObject({
      code: 'NO_RESPONDER',
    });
    c.b.wire.subscribe(`${c.box}.q`, { onMessage: () => undefined, onRefused: () => undefined });
    await c.run(c.b.wire.flush());
    await expect(c.run(c.a.wire.request(`${c.box}.q`, '', { timeoutMs: 200 }))).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
  });

  it('gives each message to one of a queue, and to all others who listen', async () => {
    const heard = { a: 0, b: 0, alone: 0 };
    const listen = (client: ContractClient, who: keyof typeof heard, queueName?: string) =>
      client.wire.subscribe(`${c.box}.>`, {
        ...(queueName !== undefined && { queue: queueName }),
        onMessage: () => heard[who]++,
        onRefused: () => undefined,
      });
    listen(c.a, 'a', 'q');
    listen(c.b, 'b', 'q');
    listen(c.b, 'alone');
    for (const client of [c.a, c.b]) await c.run(client.wire.flush());
    for (let n = 0; n < 60; n++) c.a.wire.publish(`${c.box}.x`, String(n));
    await c.world.until(() => heard.alone === 60 && heard.a + heard.b >= 60);
    expect(heard.a + heard.b).toBe(60);
    expect(Math.min(heard.a, heard.b)).toBeGreaterThan(0);
  });

  it('keeps the order of one sender, and tells nothing after the end of a subscription', async () => {
    const heard: string[] = [];
    const sub = c.b.wire.subscribe(`${c.box}.x`, { onMessage: (m) => heard.push(m.text), onRefused: () => undefined });
    await c.run(c.b.wire.flush());
    for (const text of ['1', '2', '3']) c.a.wire.publish(`${c.box}.x`, text);
    await c.run(c.a.wire.flush());
    await c.run(sub.drain());
    expect(heard).toEqual(['1', '2', '3']);
    c.a.wire.publish(`${c.box}.x`, '4');
    await c.run(c.a.wire.flush());
    await c.run(c.b.wire.flush());
    expect(heard).toEqual(['1', '2', '3']);
  });

  it('fails what is on its way when the connection breaks, and says when it is gone and back', async () => {
    const told: WireStatus[] = [];
    c.a.wire.onStatus((status) => told.push(status));
    const heard: string[] = [];
    c.a.wire.subscribe(`${c.box}.x`, { onMessage: (m) => heard.push(m.text), onRefused: () => undefined });
    c.b.wire.subscribe(`${c.box}.q`, { onMessage: () => undefined, onRefused: () => undefined });
    for (const client of [c.a, c.b]) await c.run(client.wire.flush());
    const asked = c.a.wire.request(`${c.box}.q`, '', { timeoutMs: 8000 });
    asked.catch(() => undefined);
    await c.world.advance(20);
    c.a.cut();
    await expect(c.run(asked)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    expect(c.a.wire.connected).toBe(false);
    await expect(c.run(c.a.wire.request(`${c.box}.q`, '', { timeoutMs: 8000 }))).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
    });
    c.b.wire.publish(`${c.box}.x`, 'unheard');
    c.a.wire.publish(`${c.box}.x`, 'dropped');
    await c.run(c.b.wire.flush());
    await c.a.heal();
    await c.run(c.a.wire.flush());
    c.b.wire.publish(`${c.box}.x`, 'heard');
    await c.world.until(() => heard.length > 0);
    expect(heard).toEqual(['heard']);
    expect(told).toEqual(['disconnected', 'connected']);
  });

  it('fails a write whose connection breaks, which may be stored all the same', async () => {
    await c.bucket();
    c.a.loseAnswer();
    const writing = c.log.append(`${c.box}.k`, 'one', { id: 'broken', expect: 0, timeoutMs: 8000 });
    writing.catch(() => undefined);
    await c.world.advance(50);
    while ((await c.run(c.b.messages.last(c.box, `${c.box}.k`))) === undefined) await c.world.advance(50);
    c.a.cut();
    await expect(c.run(writing)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    await c.a.heal();
    expect(c.again(1)).toContainEqual(await c.put('k', 'one', { id: 'broken', expect: 0 }));
  });

  it('is over for who closed it', async () => {
    const told: WireStatus[] = [];
    c.a.wire.onStatus((status) => told.push(status));
    await c.run(c.a.wire.close());
    expect(c.a.wire.closed).toBe(true);
    await expect(c.run(c.a.wire.request('x', '', { timeoutMs: 100 }))).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
    });
    await expect(c.run(c.log.info(c.box))).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    c.a.wire.publish('x', 'dropped');
    expect(told).toEqual(['disconnected']);
  });
}
