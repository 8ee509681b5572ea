import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, createInbox, PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { Requests } from './requests.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

describe('requests', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let requests: Requests;
  const inbox = createInbox();

  beforeAll(async () => {
    nats = await startTestNats();
    nc = await connect({ servers: [nats.url] });
    requests = new Requests(nc, inbox, false);
  });

  afterAll(async () => {
    await nc?.close();
    await nats?.stop();
  });

  it('get each its own answer, in whichever order these come', async () => {
    const late: (() => void)[] = [];
    nc.subscribe('echo', { callback: (_e, m) => void late.unshift(() => void m.respond(m.data)) });
    const sent = Array.from({ length: 50 }, (_, i) => requests.send('echo', `${i}`, { timeoutMs: 30_000 }));
    await nc.flush();
    for (const answer of late) answer();
    expect((await Promise.all(sent)).map((m) => m.string())).toEqual(sent.map((_, i) => `${i}`));
  });

  it('are not late whose answer came while this process itself stood still', async () => {
    let answer: unknown;
    // On a busy machine the server may need longer.
    for (let standsStillMs = 200; answer === undefined && standsStillMs < 10_000; standsStillMs *= 2) {
      // The loop's next phase is then that of its timers, before it reads.
      await new Promise((resolve) => setImmediate(resolve));
      // The server itself answers, whatever this process does.
      const sent = requests.send('$JS.API.INFO', '', { timeoutMs: standsStillMs / 2 });
      // It goes out in this turn.
      await new Promise((resolve) => process.nextTick(resolve));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, standsStillMs);
      answer = await sent.then(
        (m) => m.json(),
        () => undefined,
      );
    }
    expect(answer).toHaveProperty('limits');
  });

  it('reject with what became of them', async () => {
    nc.subscribe('silent', { callback: () => undefined });
    const begun = performance.now();
    await expect(requests.send('nobody', '', { timeoutMs: 5000 })).rejects.toMatchObject({ code: 'NO_RESPONDER' });
    await expect(requests.send('', '', { timeoutMs: 5000 })).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(performance.now() - begun).toBeLessThan(4000);
    await expect(requests.send('silent', '', { timeoutMs: 30 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      facts: { subject: 'silent' },
    });
  });

  it('an answer that comes too late is for nobody', async () => {
    let respond = (): boolean => false;
    const heard = new Promise<void>((resolve) => {
      nc.subscribe('late', {
        callback: (_e, m) => {
          respond = () => m.respond('late');
          resolve();
        },
      });
    });
    await expect(requests.send('late', '', { timeoutMs: 20 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    await heard;
    nc.subscribe('next', { callback: (_e, m) => void (respond(), m.respond('next')) });
    expect((await requests.send('next', '', { timeoutMs: 30_000 })).string()).toBe('next');
  });

  it('of a subject that is refused, and none else, are rejected at once', async () => {
    nc.subscribe('held', { callback: () => undefined });
    const [held, other] = [
      requests.send('held', '', { timeoutMs: 5000 }),
      requests.send('held.not', '', { timeoutMs: 5000 }),
    ];
    other.catch(() => undefined);
    requests.refused(new PermissionViolationError('no', 'publish', 'held'));
    await expect(held).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(other).rejects.toMatchObject({ code: 'NO_RESPONDER' });
  });

  it('are all rejected where the connection breaks, or their answers may not be heard', async () => {
    nc.subscribe('unheard', { callback: () => undefined });
    const two = (): Promise<unknown>[] => [1, 2].map(() => requests.send('unheard', '', { timeoutMs: 5000 }));
    const broken = two();
    requests.broken();
    for (const r of broken) await expect(r).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    const deaf = two();
    requests.refused(new PermissionViolationError('no', 'subscription', `${inbox}.*`));
    for (const r of deaf) await expect(r).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});
