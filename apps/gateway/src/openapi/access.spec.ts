import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { MusterError } from '#contracts';
import { isOwnSurface } from '../auth/surface.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { accessOf, CALLERS, type Caller, OPEN_ROUTES } from './access-table.js';
import { requestExamples } from './examples.js';
import { type Route, routesOf } from './routes.js';
import { applicationWithoutServer } from '../http/without-server.js';

const roles = ['viewer', 'operator', 'admin'] as const;
const tokens = roles.map((role) => ({
  name: `a-${role}`,
  role,
  sha256: createHash('sha256').update(`token-of-${role}`).digest('hex'),
}));
const shown = (caller: Caller): Record<string, string> =>
  caller === 'none' ? {} : { authorization: `Bearer ${caller === 'wrong' ? 'guess' : `token-of-${caller}`}` };

/** Route → reason, as people read it: the rows of the table under "open without a token". */
function openByThePage(): Record<string, string> {
  const page = readFileSync(new URL('../../../../docs/security.md', import.meta.url), 'utf8');
  const [, rows = ''] = /\| open without a token[^\n]*\n\|[-| ]+\n((?:\|[^\n]*\n)+)/.exec(page) ?? [];
  const cells = rows.split('\n').flatMap((row) => {
    const [, name, reason] = /^\| `([^`]+)`\s*\| (.*?)\s*\|$/.exec(row) ?? [];
    return name === undefined || reason === undefined ? [] : [[name, reason] as const];
  });
  return Object.fromEntries(cells);
}

describe('who is let in', () => {
  let sut: GatewayUnderTest;
  let routes: Route[];
  beforeAll(async () => {
    sut = await GatewayUnderTest.start({ tokens });
    // Another code than any of the guard's, so that one who is let in can be told.
    sut.refuseAll((verb) =>
      verb === 'inventory.agents.admit'
        ? new MusterError('UNAUTHORIZED', 'this token is not known')
        : new MusterError('TOO_MANY_JOBS', 'not now'),
    );
    routes = routesOf(await applicationWithoutServer());
  });
  afterAll(() => sut.stop());

  /** Who guesses is held up by address: each question comes from another. */
  let asked = 0;
  const ask = async (route: Route, caller: Caller, method = route.method): Promise<number> => {
    await sut.subscribed;
    asked += 1;
    const localAddress = `127.1.${asked >> 8}.${asked & 255}`;
    const path = route.path.replace('{file}', 'swagger-ui.css').replaceAll(/\{\w+\}/g, 'a-1');
    const body = method === 'GET' || method === 'HEAD' ? '' : JSON.stringify(requestExamples[route.name] ?? {});
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...shown(caller) };
    return new Promise((resolve, reject) => {
      httpRequest(sut.url + path, { method, localAddress, agent: false, headers }, (res) => {
        resolve(res.statusCode ?? 0);
        // A stream would not end by itself.
        res.destroy();
      })
        .on('error', reject)
        .end(body);
    });
  };
  const cell = (status: number): 'yes' | number => ([401, 403, 429].includes(status) ? status : 'yes');

  it('knows every route that the router serves, and no other', () => {
    const served = sut.gateway.routes.map((name) => name.replace(/:(\w+)/g, '{$1}'));
    const declared = routes.map((r) => r.name);
    // A HEAD is answered by the handler of its GET, behind the same guard.
    expect(served.filter((name) => !name.startsWith('HEAD ')).sort()).toEqual(declared.sort());
    expect(served.filter((n) => n.startsWith('HEAD ') && !declared.includes(n.replace('HEAD', 'GET')))).toEqual([]);
    expect(declared.length).toBeGreaterThan(50);
  });

  it.each(CALLERS)('on every route with: %s', async (caller) => {
    const wrong: string[] = [];
    for (const route of routes) {
      if (route.needs === undefined) throw new Error(`${route.name} says nobody`);
      const expected = accessOf(route.needs, caller);
      const before = sut.asked.length;
      for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
        const status = await ask(route, caller, method);
        if (cell(status) !== expected) wrong.push(`${method} ${route.path}: ${status} instead of ${expected}`);
      }
      const isRefused = expected !== 'yes' && (route.needs !== 'agent-token' || caller === 'none');
      if (isRefused && sut.asked.length > before) wrong.push(`${route.name}: inventory was asked all the same`);
    }
    expect(wrong).toEqual([]);
  });

  it('without a token is the list with reasons in docs/security.md, and nothing else', async () => {
    const documented = openByThePage();
    expect(documented).toEqual(OPEN_ROUTES);
    const answered: string[] = [];
    for (const route of routes) if ((await ask(route, 'none')) !== 401) answered.push(route.name);
    expect(answered.sort()).toEqual(Object.keys(documented).sort());
  });

  it('takes a route for one of old clients by its controller just where its path says so', () => {
    expect(routes.filter((r) => r.clusterm === isOwnSurface(r.path)).map((r) => r.name)).toEqual([]);
  });
});
