import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { request as httpRequest } from 'node:http';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { MusterError } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { node } from '../testing/records.js';

let sut: GatewayUnderTest;
const lines: string[] = [];
const log = pino(
  { level: 'warn' },
  new Writable({
    write: (line: Buffer, _encoding, done) => {
      lines.push(line.toString());
      done();
    },
  }),
);

beforeAll(async () => {
  sut = await GatewayUnderTest.start({ log });
});
beforeEach(() => {
  lines.length = 0;
});
afterAll(() => sut.stop());

/** As it stands on the wire: `fetch` would make a proper one of it. */
const raw = async (path: string, method = 'GET'): Promise<{ status: number; type: string; text: string }> => {
  await sut.subscribed;
  return new Promise((resolve, reject) => {
    const url = new URL(sut.url);
    const req = httpRequest({ host: url.hostname, port: url.port, path, method, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (more: string) => (text += more));
      res.on('end', () =>
        resolve({ status: res.statusCode ?? 0, type: (res.headers['content-type'] ?? '').replace(/;.*/, ''), text }),
      );
    });
    req.on('error', reject).end();
  });
};

describe('names that every object has', () => {
  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'])(
    'are no file of the reference: %s',
    async (name) => {
      const answer = await sut.get(`/docs/${name}`);
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
    },
  );

  it('are kept where names are free', async () => {
    sut.answer('inventory.nodes.create', ({ node: n }) => node(n.label, n.serial));
    sut.answer('inventory.settings.patch', () => ({ revision: 1 }) as never);
    const odd = { toString: 'a', valueOf: 1, hasOwnProperty: { isPrototypeOf: [{ toString: 2 }] } };
    const networks = { management: { address: '10.0.0.1' }, toString: { address: '10.0.1.1' } };
    await sut.send('POST', '/v1/nodes', { label: 'a', serial: '1', networks, vars: odd });
    expect(JSON.stringify(sut.last('inventory.nodes.create')?.node.vars)).toBe(JSON.stringify(odd));
    expect(Object.keys(sut.last('inventory.nodes.create')?.node.networks ?? {})).toEqual(['management', 'toString']);
    await sut.send('PATCH', '/v1/settings', { globals: odd });
    expect(JSON.stringify(sut.last('inventory.settings.patch')?.patch)).toBe(JSON.stringify({ globals: odd }));
  });

  it.each(['toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', '__defineGetter__'])(
    'are refused where they are not, and not dropped in silence: %s',
    async (name) => {
      const before = sut.asked.length;
      for (const body of [
        { label: 'a', serial: '1', networks: {}, [name]: 1 },
        { priority: 1, recovery: { driver: 'ansible', spec: {}, [name]: 1 } },
      ]) {
        const [method, path] = 'label' in body ? ['POST', '/v1/nodes'] : ['PUT', '/v1/workloads/db'];
        const answer = await sut.send(method, path, body);
        expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'BAD_REQUEST' }]);
      }
      expect((await sut.get(`/v1/nodes?${name}=1`)).status).toBe(400);
      expect(sut.asked.length).toBe(before);
    },
  );
});

describe('an error of our own', () => {
  it('tells nobody outside what the program said', async () => {
    const runtime = new MusterError('INTERNAL', 'Cannot read properties of undefined (reading secretPlan)');
    sut.answer('inventory.jobs.get', () => {
      throw runtime;
    });
    for (const path of ['/v1/jobs/j1', '/info/job/j1']) {
      const answer = await sut.get(path);
      const text = await answer.text();
      expect([answer.status, text]).toEqual([500, expect.not.stringContaining('secretPlan')]);
      expect(text).toContain('logs');
    }
    expect(lines.join('')).toContain('secretPlan');
  });
});

describe('a number that no store can hold', () => {
  it('is refused, wherever it stands', async () => {
    const before = sut.asked.length;
    for (const [method, path, body] of [
      ['PATCH', '/v1/nodes/a-1', '{"vars":{"a":[1e400]}}'],
      ['PATCH', '/v1/settings', '{"globals":{"a":-1e999}}'],
      ['PUT', '/v1/workloads/db', '{"recovery":{"driver":"ansible","spec":{"n":1e400}}}'],
    ] as const)
      expect((await sut.send(method, path, body)).status).toBe(400);
    expect((await sut.send('POST', '/globals', '{"extra_vars":{"a":1e400}}')).status).toBe(500);
    expect(sut.asked.length).toBe(before);
  });
});

describe('a path that is spelled otherwise', () => {
  it.each([
    '/%761/nodes/a-1',
    '/v%31/nodes/a-1',
    '/v1/%6eodes/%61-1',
    'http://127.0.0.1/v1/nodes/a-1',
    '/v1/nodes/a-1#/x',
  ])('is of the surface that the router takes it for: %s', async (path) => {
    sut.answerNodes((name) => {
      throw new MusterError('NODE_UNKNOWN', `no ${name}`);
    });
    const answer = await raw(path);
    expect([answer.status, answer.type]).toEqual([404, 'application/problem+json']);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'NODE_UNKNOWN', detail: 'no a-1' });
  });

  it.each(['/v1/%ff', '/v1/nodes/%ff', '/v1/nodes/%', '/v1/jobs/%c3%28/log', `/v1/nodes/${'x'.repeat(400)}`])(
    'and is none is answered in our words: %s',
    async (path) => {
      const answer = await raw(path);
      expect([answer.status, answer.type]).toEqual([400, 'application/problem+json']);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'BAD_REQUEST', status: 400 });
    },
  );

  it.each(['/%ff', '/info/node/%ff', '/%'])('and is none is no page of the old surface: %s', async (path) => {
    expect(await raw(path)).toEqual({ status: 404, type: 'text/plain', text: '404 page not found\n' });
  });
});

describe('what a browser is told', () => {
  const headers = async (path: string): Promise<Headers> => {
    const answer = await sut.get(path);
    await answer.arrayBuffer();
    return answer.headers;
  };

  it('is to take nothing for another type than it says, and to show the reference in no other page', async () => {
    for (const path of ['/docs', '/docs/start.js', '/healthz', '/openapi.json', '/v1/none', '/none', '/%ff'])
      expect([path, (await headers(path)).get('x-content-type-options')]).toEqual([path, 'nosniff']);
    expect((await headers('/docs')).get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});

describe('packages that we are made of', () => {
  it('tell nobody that they are being installed', () => {
    const own = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as object;
    expect(own).toMatchObject({ scarfSettings: { enabled: false } });
  });
});
