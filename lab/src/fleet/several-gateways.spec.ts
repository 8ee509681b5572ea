import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Api } from './api.js';
import { EventFeed } from './event-feed.js';

const servers: Server[] = [];
afterEach(() => {
  for (const s of servers.splice(0)) {
    s.closeAllConnections();
    s.close();
  }
});

async function gateway(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What it was asked, and its answer. */
async function saying(status: number, text: string, asked: string[] = []): Promise<string> {
  return await gateway((req, res) => {
    asked.push(`${req.method} ${req.url} ${req.headers.authorization ?? ''}`.trim());
    res.writeHead(status).end(text);
  });
}

const mute = (asked: string[] = []): Promise<string> => gateway((req) => void asked.push(`${req.method} ${req.url}`));
const gone = 'http://127.0.0.1:9';

describe('the API of several gateways', () => {
  it('is that of the first one that answers, and this one is asked first from then on', async () => {
    const asked: string[] = [];
    const api = new Api([gone, await saying(200, '"a"', asked), await saying(200, '"b"')]);
    expect(await api.get('/x')).toBe('a');
    expect(await api.get('/y')).toBe('a');
    expect(asked).toEqual(['GET /x', 'GET /y']);
  });

  it('passes by one that stands still, and one that has no view', async () => {
    const api = new Api([await mute(), await saying(503, 'stale'), await saying(200, '"c"')]);
    expect(await api.request('GET', '/x', undefined, 4_500)).toBe('c');
  });

  it('answers 503 where that is all that is said', async () => {
    const api = new Api([gone, await saying(503, 'stale')]);
    expect(await api.exchange('GET', '/x')).toEqual({ status: 503, text: 'stale' });
  });

  it('rejects where nobody answers', async () => {
    await expect(new Api([gone, gone]).get('/x')).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
  });

  it('sends a POST to one that is ready, and once', async () => {
    const [unready, ready]: [string[], string[]] = [[], []];
    const api = new Api([await mute(unready), await saying(200, '"d"', ready)]);
    expect(await api.request('POST', '/x', {}, 3_000)).toBe('d');
    expect(unready).toEqual(['GET /readyz']);
    expect(ready).toEqual(['GET /readyz', 'POST /x']);
  });

  it('sends its token', async () => {
    const asked: string[] = [];
    await new Api(await saying(200, '1', asked), 't0').get('/x');
    expect(asked).toEqual(['GET /x Bearer t0']);
  });
});

describe('the events of several gateways', () => {
  const event = (seq: number): string =>
    `id: ${seq}\nevent: e\ndata: ${JSON.stringify({ kind: 'e', key: 'k', at: 1, data: { seq } })}\n\n`;

  it('are each counted once, whoever tells them, also while one stands still', async () => {
    const telling = await gateway((_, res) => {
      res.writeHead(200).write(event(1) + event(2));
    });
    const behind = await gateway((req, res) => {
      // It ends; who comes again wants what is behind all that was seen.
      if (req.headers['last-event-id'] === undefined) res.writeHead(200).end(event(1));
      else res.writeHead(200).end(event(Number(req.headers['last-event-id']) + 1));
    });
    const feed = await EventFeed.open([telling, behind, gone]);
    await feed.until('the third', (e) => e.seq === '3', 5_000, 0);
    expect(
      feed.seen
        .map((e) => e.seq)
        .toSorted()
        .slice(0, 3),
    ).toEqual(['1', '2', '3']);
    feed.close();
  });

  it('cannot be opened where nobody tells any', async () => {
    await expect(EventFeed.open([gone])).rejects.toThrow('fetch failed');
  });
});
