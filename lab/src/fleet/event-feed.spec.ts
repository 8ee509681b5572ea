import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { EventFeed } from './event-feed.js';

describe('the next event', () => {
  let stream: ServerResponse;
  const server = createServer((_, res) => {
    stream = res.writeHead(200);
    stream.flushHeaders();
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('ends the wait for it, as does the end of its time', async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const feed = await EventFeed.open([`http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
    try {
      await feed.next(10);
      expect(feed.seen).toEqual([]);
      const next = feed.next(60_000);
      stream.write(`id: 1\nevent: e\ndata: ${JSON.stringify({ kind: 'e', key: 'k', at: 1, data: {} })}\n\n`);
      await next;
      expect(feed.seen).toHaveLength(1);
    } finally {
      feed.close();
    }
  });
});
