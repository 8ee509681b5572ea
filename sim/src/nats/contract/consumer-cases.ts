import { expect } from 'vitest';
import { MusterError } from '#contracts';
import type { PulledMessage } from '#bus/ports/message-log.js';
import type { CaseGroup } from './case-group.js';
import { ns, type ContractBox } from './contract-box.js';

export function consumerCases({ it, itAlone, beforeEach }: CaseGroup, c: ContractBox): void {
  const durable = 'worker';
  const consumer = (o: object = {}): Promise<void> =>
    c.run(
      c.log.createConsumer(c.box, {
        durable_name: durable,
        ack_policy: 'explicit' as never,
        deliver_policy: 'all' as never,
        replay_policy: 'instant' as never,
        ack_wait: ns(1500),
        max_deliver: -1,
        filter_subject: `${c.box}.>`,
        ...o,
      }),
    );
  /** Long enough for a busy machine to hand out what is there; what must not be there is waited for with `NOTHING`. */
  const pull = (waitMs = 10_000, by = c.a): Promise<PulledMessage | undefined> =>
    c.run(by.messages.pull(c.box, durable, { waitMs }));
  const NOTHING = 100;
  const brief = (m: PulledMessage | undefined) => m && `${m.text}/${m.deliveries}`;
  /** It has reached the server. */
  const said = (by = c.a): Promise<void> => c.run(by.wire.flush());

  beforeEach(async () => {
    await c.queue();
  });

  it('hands out each message once, in order, to whoever asks', async () => {
    await consumer();
    for (const text of ['1', '2', '3']) await c.put('x', text);
    const got: (string | undefined)[] = [];
    for (const by of [c.a, c.b, c.a, c.b]) {
      const m = await pull(got.length < 3 ? 10_000 : NOTHING, by);
      got.push(brief(m));
      m?.ack();
      await said(by);
    }
    expect(got).toEqual(['1/1', '2/1', '3/1', undefined]);
    // What is done would come again before what came later and is not.
    await c.put('x', '4');
    expect([brief(await pull()), brief(await pull())]).toEqual(['4/1', '4/2']);
  });

  it('hands out again what was not acknowledged in time, before what is new', async () => {
    await consumer();
    await c.put('x', '1');
    await c.put('x', '2');
    const m = await pull();
    expect(m).toMatchObject({ subject: `${c.box}.x`, seq: 1, text: '1', deliveries: 1 });
    expect(await pull(10_000, c.b).then(brief)).toBe('2/1');
    await c.put('x', '3');
    await c.world.advance(2000);
    expect([brief(await pull()), brief(await pull()), brief(await pull())]).toEqual(['1/2', '2/2', '3/1']);
    m?.ack();
    await said();
    expect(brief(await pull())).toBe('2/3');
  });

  it('hands out what was refused after its delay, and not before', async () => {
    await consumer({ ack_wait: ns(30_000) });
    await c.put('x', '1');
    const m = await pull();
    m?.nak(1500);
    await said();
    expect(await pull(NOTHING)).toBeUndefined();
    expect(brief(await pull(10_000))).toBe('1/2');
  });

  it('waits longer for who is still at work', async () => {
    await consumer();
    await c.put('x', '1');
    const m = await pull();
    for (let i = 0; i < 3; i++) {
      await c.world.advance(750);
      m?.working();
      await said();
    }
    expect(await pull(NOTHING)).toBeUndefined();
    expect(brief(await pull())).toBe('1/2');
  });

  it('never hands out what was ended', async () => {
    await consumer();
    await c.put('x', '1');
    (await pull())?.term();
    await said();
    // What is over would come again before what came later and is not.
    await c.put('x', '2');
    expect([brief(await pull()), brief(await pull())]).toEqual(['2/1', '2/2']);
  });

  it('keeps the order where only one may be out', async () => {
    await consumer({ max_ack_pending: 1, ack_wait: ns(30_000) });
    await c.put('x', '1');
    await c.put('x', '2');
    const first = await pull();
    expect(await pull(NOTHING, c.b)).toBeUndefined();
    first?.nak(200);
    await said();
    const again = await pull(10_000, c.b);
    expect(brief(again)).toBe('1/2');
    again?.ack();
    await said(c.b);
    expect(brief(await pull())).toBe('2/1');
  });

  it('gives a message to who waits for it already', async () => {
    await consumer();
    const waiting = c.log.pull(c.box, durable, { waitMs: 10_000 });
    await c.world.advance(50);
    await said();
    await c.put('x', '1', {}, c.b);
    expect(brief(await c.run(waiting))).toBe('1/1');
  });

  it('gives up at once where it is told to, and loses nothing by it', async () => {
    await consumer({ ack_wait: ns(30_000) });
    const stop = new AbortController();
    const waiting = c.log.pull(c.box, durable, { waitMs: 30_000, signal: stop.signal });
    await c.world.advance(50);
    stop.abort();
    expect(await c.run(waiting)).toBeUndefined();
    await said();
    await c.put('x', '1');
    expect(brief(await pull(10_000, c.b))).toBe('1/1');
    expect(await c.run(c.log.pull(c.box, durable, { waitMs: 10_000, signal: stop.signal }))).toBeUndefined();
  });

  it('begins with what is new where it was asked to', async () => {
    await c.put('x', '1');
    await consumer({ deliver_policy: 'new' });
    await c.put('x', '2');
    expect(brief(await pull())).toBe('2/1');
  });

  itAlone('remembers over a restart what is done, and what is not', async () => {
    await consumer({ ack_wait: ns(1500) });
    for (const text of ['1', '2', '3']) await c.put('x', text);
    (await pull())?.ack();
    await pull();
    await said();
    // It writes such things down a moment later.
    await c.world.advance(500);
    await c.world.restart();
    await c.world.until(() => c.a.wire.connected);
    const seen: string[] = [];
    await consumer({ ack_wait: ns(1500) });
    for (let tries = 0; tries < 20 && seen.length < 2; tries++) {
      const m = await pull(1000);
      if (m) seen.push(m.text);
      m?.ack();
    }
    expect(seen.sort()).toEqual(['2', '3']);
  });

  it('fails where the connection breaks, and hands out again what was on its way', async () => {
    await consumer();
    await c.put('x', '1', {}, c.b);
    const m = await pull();
    const waiting = c.log.pull(c.box, durable, { waitMs: 10_000 });
    waiting.catch(() => undefined);
    await c.world.advance(20);
    await said();
    c.a.cut();
    await expect(c.run(waiting)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    await expect(pull()).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    await c.a.heal();
    const counted = brief(await pull());
    // It may have gone out to who had gone, which counts. 2.9 forgets what it had counted where it finds that out itself.
    expect(counted).toMatch(c.world.version.startsWith('2.9.') ? /^1\/[123]$/ : /^1\/[23]$/);
    expect(m?.deliveries).toBe(1);
  });

  it('is refused by name where there is none to remove, and fails who waits for it when it is removed', async () => {
    await expect(c.run(c.log.removeConsumer(c.box, 'none'))).rejects.toMatchObject({
      name: 'ApiFailure',
      errCode: 10014,
    });
    await consumer();
    const waiting = c.log.pull(c.box, durable, { waitMs: 10_000 });
    waiting.catch(() => undefined);
    await c.world.advance(50);
    await said();
    await c.run(c.b.messages.removeConsumer(c.box, durable));
    await expect(c.run(waiting)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
  });

  it('that is not there hands out nothing: 2.9 says nothing at all, 2.15 that nobody is there', async () => {
    const failure = await c.run(c.log.pull(c.box, 'none', { waitMs: 200 }).catch((e: unknown) => e));
    const codes = c.world.version.startsWith('2.9.') ? ['TIMEOUT'] : ['BUS_UNAVAILABLE'];
    expect(codes).toContain(failure instanceof MusterError ? failure.code : failure);
  });
}
