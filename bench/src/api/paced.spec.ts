import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { paced } from './paced.js';

/** Four requests, one after the other, to a server that answers so. */
async function four(answer: RequestListener): Promise<unknown> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return await paced(url, { connections: 4, everyMs: 300, count: 4, body: String });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('requests at a pace', () => {
  it('are sent again where the server had just closed the connection that was kept', async () => {
    const used = new Set<Socket>();
    let answered = 0;
    const figures = await four(({ socket }, res) => {
      if (used.has(socket)) return void socket.destroy();
      used.add(socket);
      answered += 1;
      res.writeHead(202).end();
    });
    expect([answered, figures]).toEqual([4, { p50: expect.any(Number), p99: expect.any(Number) }]);
  });

  it('have failed where a new connection is closed, or one is refused', async () => {
    await expect(four(({ socket }) => void socket.destroy())).rejects.toThrow('socket hang up');
    await expect(four((_, res) => void res.writeHead(409).end('held'))).rejects.toThrow('409 held');
  });
});
