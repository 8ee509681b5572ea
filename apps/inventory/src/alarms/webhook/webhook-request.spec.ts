import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { MusterEvent } from '#contracts';
import { systemClock as clock } from '#bus/system/system-clock.js';
import { postEvent } from './webhook-request.js';

let servers: (Server | TcpServer)[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.map((s) => new Promise((resolve) => s.close(resolve))));
  servers = [];
});

const listen = async (server: Server | TcpServer): Promise<string> => {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
};
const http = (handle: RequestListener): Promise<string> => listen(createServer(handle));
const tcp = (handle: (socket: Socket) => void): Promise<string> => listen(createTcpServer(handle));

const event: MusterEvent<'alarm'> = {
  id: 'alarm.no-room.wörk load.7',
  kind: 'alarm',
  key: 'no-room',
  at: 1,
  source: 'inventory-1',
  data: { code: 'no-room', subject: 'wörk load', severity: 'critical', message: 'Kein Platz ✗', since: 1, count: 1 },
};
const hook = (url: string, secret?: string) => ({ name: 'pager', url, ...(secret !== undefined && { secret }) });
const read = async (req: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return text;
};

describe('a webhook', () => {
  it('goes to no link-local address, whatever is set', async () => {
    for (const url of ['http://169.254.169.254/latest', 'http://[fe80::1]/'])
      expect(await postEvent(hook(url), event, { clock, limitMs: 100 })).toMatch(/link-local/);
  });

  it('gets the event as JSON, with an id that stays and a signature over the very bytes', async () => {
    const seen: { req: IncomingMessage; body: string }[] = [];
    const url = await http((req, res) => {
      void read(req).then((body) => {
        seen.push({ req, body });
        res.writeHead(204).end();
      });
    });
    expect(await postEvent(hook(url, 's3cret'), event, { clock })).toBeUndefined();
    expect(await postEvent(hook(url), event, { clock })).toBeUndefined();
    const [signed, plain] = seen;
    expect(JSON.parse(signed?.body ?? '')).toEqual(event);
    expect(signed?.req.headers).toMatchObject({
      'content-type': 'application/json',
      'x-muster-event-id': 'alarm.no-room.w%f6rk%20load.7',
      'x-muster-signature': `sha256=${createHmac('sha256', 's3cret')
        .update(signed?.body ?? '')
        .digest('hex')}`,
    });
    expect(plain?.req.headers).not.toHaveProperty('x-muster-signature');
  });

  it('is done as soon as it has answered, however long its answer is', async () => {
    const url = await http((_req, res) => {
      res.writeHead(200);
      res.write('and on and on');
    });
    expect(await postEvent(hook(url), event, { clock, limitMs: 2_000 })).toBeUndefined();
  });

  it.each([301, 307, 404, 500])('that answers %i has not taken it', async (status) => {
    let asked = 0;
    const url = await http((_req, res) => {
      asked += 1;
      res.writeHead(status, { location: '/elsewhere' }).end();
    });
    expect(await postEvent(hook(url), event, { clock })).toContain(`answers ${status}`);
    expect(asked).toBe(1);
  });

  it('that closes the connection before it answers fails at once', async () => {
    const closings: [string, (socket: Socket) => void][] = [
      ['at the first byte', (s) => s.once('data', () => s.end())],
      ['at the connection', (s) => s.end()],
      ['by a reset', (s) => s.once('data', () => s.resetAndDestroy())],
      ['in the middle of its first line', (s) => s.once('data', () => s.end('HTTP/1.1 20'))],
    ];
    for (const [how, close] of closings) {
      const begun = performance.now();
      const why = await postEvent(hook(await tcp(close)), event, { clock });
      expect([how, typeof why]).toEqual([how, 'string']);
      expect(performance.now() - begun).toBeLessThan(4_500);
    }
  });

  it('that says nothing is given up at its limit, also one that only says a byte now and then', async () => {
    const silent = await tcp(() => undefined);
    expect(await postEvent(hook(silent), event, { clock, limitMs: 100 })).toBe('no answer within 100 ms');
    const slow = await tcp((s) => {
      const drip = setInterval(() => s.write('x'), 20);
      s.on('close', () => clearInterval(drip)).on('error', () => undefined);
      s.write('HTTP/1.1 200 ');
    });
    expect(await postEvent(hook(slow), event, { clock, limitMs: 100 })).toBe('no answer within 100 ms');
  });

  it('that is not there is told by its code, and nothing of its URL is', async () => {
    const url = await http(() => undefined);
    await Promise.all(servers.map((s) => new Promise((resolve) => s.close(resolve))));
    expect(await postEvent(hook(`${url}?token=abc`), event, { clock })).toBe('ECONNREFUSED');
  });

  it('is ended from here when this process ends', async () => {
    const stop = new AbortController();
    const url = await tcp(() => stop.abort());
    expect(await postEvent(hook(url), event, { clock, signal: stop.signal })).toBe('it was ended from here');
    expect(await postEvent(hook(url), event, { clock, signal: stop.signal })).toBe('it was ended from here');
  });
});
