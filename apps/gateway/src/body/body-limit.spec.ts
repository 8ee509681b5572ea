import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { quickest } from '#contracts/testing/quickest.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { BODY_LIMIT } from './json-text.js';

const SIZE = 10 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

describe('a body of 10 MB', () => {
  let sut: GatewayUnderTest;
  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
  });
  afterAll(() => sut.stop());

  /** Sends piece after piece until an answer comes; how much went out by then, and what came. */
  const push = async (path: string, length: 'declared' | 'chunked'): Promise<{ sent: number; text: string }> => {
    const socket = connect(Number(new URL(sut.url).port), '127.0.0.1');
    await once(socket, 'connect');
    let text = '';
    socket.setEncoding('latin1').on('data', (more: string) => (text += more));
    // The server may hang up on us while we still send.
    socket.on('error', () => {});
    const how = length === 'declared' ? `content-length: ${SIZE}` : 'transfer-encoding: chunked';
    socket.write(`POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${how}\r\n\r\n`);
    let sent = 0;
    while (sent < SIZE && text === '' && !socket.destroyed) {
      const piece = length === 'declared' ? PIECE : chunk();
      if (!socket.write(piece)) await moved(socket);
      else await new Promise<void>((resolve) => setImmediate(resolve));
      sent += PIECE.length;
    }
    await answered(socket, () => text);
    socket.destroy();
    return { sent, text };
  };

  it.each([
    ['/v1/operations', 'declared'],
    ['/v1/operations', 'chunked'],
  ] as const)('is answered with 413 before it has come: POST %s, its length %s', async (path, length) => {
    const before = sut.asked.length;
    const took = await quickest(2_000, async () => {
      const begun = performance.now();
      const { sent, text } = await push(path, length);
      expect(text).toMatch(/^HTTP\/1\.1 413 /);
      expect(text).toContain('"code":"TOO_LARGE"');
      expect(sent).toBeLessThan(SIZE / 2);
      return performance.now() - begun;
    });
    expect(took).toBeLessThan(2_000);
    expect(sut.asked.length).toBe(before);
  });

  it.each(['declared', 'chunked'] as const)(
    'is refused in one line on the clusterm surface, its length %s',
    async (length) => {
      const { sent, text } = await push('/commission/nodes', length);
      expect(text).toMatch(/^HTTP\/1\.1 500 /);
      expect(text).toContain('the body is larger than 1 MB\n');
      expect(sent).toBeLessThan(SIZE / 2);
    },
  );

  it('is not waited for without end', async () => {
    const socket = connect(Number(new URL(sut.url).port), '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.resume();
    socket.write(
      `POST /v1/operations HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${SIZE}\r\n\r\n`,
    );
    await once(socket, 'close');
  });

  it('reaches a client that sends all of it before it reads, and takes what is just not too large', async () => {
    for (let n = 0; n < 5; n++) {
      const answer = await sut.send('POST', '/v1/operations', 'x'.repeat(SIZE));
      expect([answer.status, await answer.json()]).toEqual([413, expect.objectContaining({ code: 'TOO_LARGE' })]);
    }
    const most = await sut.send('POST', '/v1/operations', `"${'x'.repeat(BODY_LIMIT - 2)}"`);
    expect(await most.json()).toMatchObject({ code: 'BAD_REQUEST' });
    const over = await sut.send('POST', '/v1/operations', `"${'x'.repeat(BODY_LIMIT - 1)}"`);
    expect(over.status).toBe(413);
  });
});

const chunk = (): string => `${PIECE.length.toString(16)}\r\n${PIECE.toString('latin1')}\r\n`;

/** The next time that anything happens on it. */
const moved = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    for (const event of ['drain', 'data', 'close']) socket.once(event, () => resolve());
  });

async function answered(socket: Socket, text: () => string): Promise<void> {
  const complete = (): boolean => {
    const [head = '', body = ''] = text().split('\r\n\r\n');
    return body.length > 0 && body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Infinity);
  };
  while (!complete() && !socket.destroyed) await moved(socket);
}
