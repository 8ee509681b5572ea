import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { Agent, request as httpRequest } from 'node:http';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { ErrorCodes, MusterError } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { isOwnSurface } from '../auth/surface.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { type ApiPaths, spoiled, type Target, targetsOf } from '../testing/spoiled-bodies.js';

/** Random bodies for each route. */
const RUNS = runs(4);

interface Answer {
  status: number;
  type: string;
  text: string;
}

describe(`bad bodies, MUSTER_SEED=${SEED}`, () => {
  let sut: GatewayUnderTest;
  let targets: Target[];
  // Each request on a connection of its own: one that is kept may be closed just as it is taken again.
  const agent = new Agent({ keepAlive: false });
  /** Errors that the gateway logged: defects of ours. */
  const defects: string[] = [];

  const send = async (t: Target, body: string | Uint8Array, type = 'application/json'): Promise<Answer> => {
    for (;;) {
      const answer = await sendOnce(t, body, type);
      // On a machine that is busy with others NATS may have given up on this process meanwhile: on the gateway's
      // connection, or on that of the stand-in.
      if (answer.status !== 503 || !/BUS_UNAVAILABLE|NO_RESPONDER/.test(answer.text)) return answer;
      await sut.bus.flushed();
    }
  };
  const sendOnce = (t: Target, body: string | Uint8Array, type: string): Promise<Answer> =>
    new Promise<Answer>((resolve, reject) => {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      const headers = { 'content-type': type, 'content-length': bytes.length };
      const req = httpRequest(sut.url + t.path, { method: t.method, agent, headers }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (more: string) => (text += more));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, type: res.headers['content-type'] ?? '', text }));
      }).on('error', reject);
      req.end(bytes);
    });

  /** Not one answer may be a failure of ours, or one that a program could not read. */
  const expectClear = (t: Target, answer: Answer): void => {
    if (!isOwnSurface(t.path)) {
      expect([200, 404, 500]).toContain(answer.status);
      if (answer.status !== 200) expect(answer.text).toMatch(/^[^\n]+\n$/);
      return;
    }
    if (answer.status >= 500) throw new Error(`${t.method} ${t.path}: ${answer.text}`);
    if (answer.status < 400) return;
    expect(answer.type).toContain('application/problem+json');
    const { code, status, detail } = JSON.parse(answer.text) as { code: string; status: number; detail: string };
    expect(ErrorCodes).toHaveProperty(code);
    expect([status, typeof detail]).toEqual([answer.status, 'string']);
  };

  beforeAll(async () => {
    const write = (line: Buffer, _: string, done: () => void): void => {
      defects.push(line.toString());
      done();
    };
    sut = await GatewayUnderTest.start({ log: pino({ level: 'error' }, new Writable({ write })) });
    sut.refuseAll(new MusterError('NODE_RESERVED', 'a stand-in refuses everything'));
    const document = (await (await sut.get('/openapi.json')).json()) as { paths: ApiPaths };
    targets = targetsOf(document.paths);
  });
  afterAll(async () => {
    agent.destroy();
    await sut.stop();
  });

  it('are sent to every route that takes one', () => {
    expect(targets.length).toBeGreaterThan(25);
    for (const path of ['/v1/operations', '/commission/nodes', '/monitor/event', '/v1/nodes/rack1-a1/cordon'])
      expect(targets.map((t) => t.path)).toContain(path);
  });

  const notJson: [string, string | Uint8Array][] = [
    ['half a text', '{"kind":'],
    ['nothing but a bracket', '['],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ['half a character', Buffer.from([0x22, 0xe2, 0x82, 0x22])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a list without end', '['.repeat(500_000)],
    ['objects without end', '{"a":'.repeat(100_000)],
    ['a bare word', 'undefined'],
    ['a raw control character in a text', '{"a":"\u0001"}'],
  ];
  const hostile: [string, string][] = [
    ['nesting', `{"reason":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['a prototype', '{"__proto__":{"isAdmin":true}}'],
    ['a prototype further down', '{"vars":{"a":{"__proto__":{"isAdmin":true}}}}'],
    ['a constructor', '{"constructor":{"prototype":{"isAdmin":true}}}'],
    ['a constructor that is none', '{"vars":{"constructor":" "}}'],
    ['half a surrogate', '{"reason":"\\ud800"}'],
    ['half a surrogate as a key', '{"vars":{"\\udfff":1}}'],
    ['a NUL', '{"reason":"a\\u0000b"}'],
    ['an escape for terminals', '{"reason":"\\u001b[2Jcleared"}'],
    ['a control character as a key', '{"extraVars":{"a\\u0007":1}}'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['a number', '1e400'],
  ];

  it.each([...notJson, ...hostile])('are refused, and nobody is asked: %s', async (_, body) => {
    for (const t of targets.filter((x) => isOwnSurface(x.path))) {
      const before = sut.asked.length;
      const answer = await send(t, body);
      expectClear(t, answer);
      // A route without a body does not look at one.
      if (sut.asked.length > before) expect(bodyless(t)).toBe(true);
      // Nor does one that asks first for a token.
      else expect(answer.status).toBe(t.path.endsWith('/agents/enrol') ? 401 : 400);
    }
    for (const t of targets.filter((x) => !isOwnSurface(x.path))) expectClear(t, await send(t, body));
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it.each([
    'text/plain',
    'text/json',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '*/*',
    ';',
  ])('are not looked at as %s', async (type) => {
    const before = sut.asked.length;
    for (const t of targets) {
      const answer = await send(t, JSON.stringify(t.example), type);
      expectClear(t, answer);
      expect(answer.status).toBe(isOwnSurface(t.path) ? 415 : 404);
    }
    expect(sut.asked.length).toBe(before);
  });

  it('of 10 MB are refused everywhere', async () => {
    const before = sut.asked.length;
    const body = Buffer.from(`{"reason":"${'x'.repeat(10 * 1024 * 1024)}"}`);
    for (const t of targets) {
      const answer = await send(t, body);
      expect(answer.status).toBe(isOwnSurface(t.path) ? 413 : 500);
      expectClear(t, answer);
    }
    expect(sut.asked.length).toBe(before);
  });

  it('may hold every character that is one, and tabs; a reason is one line', async () => {
    const t = targets.find((x) => x.path.endsWith('/cordon')) as Target;
    const reason = 'ä – 漢字 🙂\ta b';
    expect(await send(t, JSON.stringify({ reason }))).toMatchObject({ status: 409 });
    expect(sut.last('inventory.nodes.cordon')).toMatchObject({ reason });
    expect(await send(t, JSON.stringify({ reason: `${reason}\r\nb` }))).toMatchObject({ status: 400 });
  });

  it('made at random from good ones get a clear answer, and leave nothing behind', async () => {
    const round = async (seed: number): Promise<void> => {
      for (const t of targets)
        await fc.assert(
          fc.asyncProperty(spoiled(t.example), async (body) => expectClear(t, await send(t, body))),
          { seed, numRuns: RUNS },
        );
      sut.asked.length = 0;
    };
    await round(SEED);
    const sockets = openSockets();
    const before = heap();
    await round(SEED + 1);
    await round(SEED + 2);
    expect(heap() - before).toBeLessThan(8 * 1024 * 1024);
    // A socket is closed a moment after its answer was read.
    while (openSockets() > sockets + 1) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await sut.get('/healthz')).status).toBe(200);
  });

  it('never met a defect of ours', () => {
    expect(defects).toEqual([]);
  });

  const bodyless = (t: Target): boolean => /\/jobs\/[^/]+\/cancel$|\/identify$/.test(t.path);
});

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => /^TCPSocketWrap$/i.test(name)).length;

/** After everything that can be collected has been. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
