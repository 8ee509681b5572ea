import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { rpcSubject } from '#bus';
import { SEED } from '#contracts/testing/chance.js';
import { buildConfig, ServiceContext } from '#service';
import { startGateway, type RunningGateway } from '../../gateway/src/gateway.js';
import { isOwnSurface } from '../../gateway/src/auth/surface.js';
import { hostileRequests, type HostileRequest } from '../../gateway/src/testing/hostile-requests.js';
import type { ApiPaths } from '../../gateway/src/testing/spoiled-bodies.js';
import { longestTurnMs } from '../../inventory/src/testing/longest-turn.js';
import { RunningInventory } from '../../inventory/src/testing/running-inventory.js';

const REQUESTS = Number(process.env['MUSTER_REQUESTS'] ?? 20_000);
/** Of each route in a round, so that requests of all kinds meet. */
const IN_A_ROUND = 5;
const AT_ONCE = 6;
/** No answer by then is none, ms: the machine may be busy with others. */
const PATIENCE_MS = 60_000;
/** How long a log is followed that says nothing, ms. */
const FOLLOW_MS = 2_000;
/** The loop that also renews the leases, and answers everybody else, may compute so long at a time, ms of CPU. */
const LONGEST_TURN_MS = 250;
/** Bytes, from the first tenth to the end. Answers that are kept for their keys, tokens and jobs are among it. */
const MOST_HEAP_GROWTH = 64 * 1024 * 1024;
const MOST_RSS_GROWTH = 256 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

interface Answer {
  status: number;
  type: string;
  text: string;
}

describe(`${REQUESTS} hostile requests to gateway and inventory, MUSTER_SEED=${SEED}`, () => {
  let inventory: RunningInventory;
  let gateway: RunningGateway;
  let port = 0;
  let routes: fc.Arbitrary<HostileRequest>[];
  const dir = mkdtempSync(join(tmpdir(), 'muster-hostile-'));
  const agent = new Agent({ keepAlive: false });
  /** Errors that the gateway logged: defects. */
  const defects: string[] = [];

  const send = (r: Omit<HostileRequest, 'route'>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { method, path } = r;
      const bytes = Buffer.from(r.body ?? '');
      const headers = { ...r.headers, 'content-length': bytes.length };
      const req = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent }, (res) => {
        let text = '';
        const done = (): void =>
          resolve({ status: res.statusCode ?? 0, type: res.headers['content-type'] ?? '', text });
        res.setEncoding('utf8').on('data', (more: string) => (text += more));
        res.on('end', done).on('error', reject);
      });
      // The log of a job is followed until that ends, and nobody carries out those that wait here.
      const isLog = /\/logs?(?:[/?]|$)/.test(path);
      req.setTimeout(isLog ? FOLLOW_MS : PATIENCE_MS, () => {
        if (isLog) resolve({ status: 200, type: '', text: '' });
        req.destroy(new Error(`no answer within ${PATIENCE_MS} ms: ${method} ${path}`));
      });
      req.on('error', reject).end(bytes);
    });

  /** The node that the paths name; a request may have removed it. */
  const register = (): Promise<Answer> => {
    const node = { label: 'rack1', serial: 'a1', networks: { management: { address: '10.0.0.11' } } };
    const headers = { 'content-type': 'application/json' };
    return send({ method: 'POST', path: '/v1/nodes', headers, body: JSON.stringify(node) });
  };

  const isFault = (r: HostileRequest, { status, type, text }: Answer): boolean => {
    if (isOwnSurface(r.path)) {
      if (status === 500 || status === 504) return true;
      if (status < 400) return false;
      return !type.includes('application/problem+json') || !/"code":"[A-Z_]+"/.test(text);
    }
    // The old surface says 500 to whatever it refuses, in one line that names no error of ours.
    if (![200, 401, 403, 404, 413, 415, 429, 500].includes(status)) return true;
    return status >= 400 && (!/^[^\n]+\n$/.test(text) || /inside Muster/.test(text));
  };

  /** One that is not answered in time on a busy machine is asked again. */
  const attack = async (r: HostileRequest): Promise<{ status: number; fault?: string }> => {
    for (let tries = 1; ; tries++) {
      const answer = await send(r);
      if (!isFault(r, answer)) return { status: answer.status };
      if (answer.status === 504 && tries < 3) continue;
      const body = (r.body ?? '').slice(0, 300);
      const fault = `${r.method} ${r.path.slice(0, 200)} ${JSON.stringify(r.headers).slice(0, 200)} ${body}\n  → ${answer.status} ${answer.text.slice(0, 300)}`;
      return { status: answer.status, fault };
    }
  };

  beforeAll(async () => {
    inventory = await RunningInventory.start();
    await inventory.work('provisioner', ['ansible']);
    await inventory.work('fencer', ['ipmitool']);
    // Where nobody hears a request across accounts, a server of 2.9 says nothing: each would wait for its whole time.
    const nothing = { response: { devices: [] } };
    inventory
      .as('fencer')
      .answer<unknown, typeof nothing>(rpcSubject('fencer.power.read'), () => Promise.resolve(nothing));
    const write = (line: Buffer, _: string, done: () => void): void => {
      defects.push(line.toString().slice(0, 2_000));
      done();
    };
    const http = { listen: '127.0.0.1:0' };
    const config = buildConfig({ instance: 'gateway-1', dataDir: dir, http }, undefined, 'spec');
    const log = pino({ level: 'error' }, new Writable({ write }));
    gateway = await startGateway(new ServiceContext(config, inventory.as('gateway'), log, 'gateway'));
    const [address] = gateway.addresses;
    port = address?.kind === 'tcp' ? address.port : 0;
    const document = await send({ method: 'GET', path: '/openapi.json', headers: {} });
    routes = hostileRequests((JSON.parse(document.text) as { paths: ApiPaths }).paths);
  });
  afterAll(async () => {
    agent.destroy();
    await gateway?.close();
    await inventory?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('are refused or taken, with no failure of ours, no long turn, and nothing left behind', async () => {
    const faults = new Map<string, string>();
    const statuses = new Map<number, number>();
    const underWay = new Set<string>();
    let longTurns: string[] = [];
    let sent = 0;
    const storm = async (): Promise<void> => {
      const rounds = Math.ceil(REQUESTS / (routes.length * IN_A_ROUND));
      let warm: { heap: number; rss: number } | undefined;
      for (let round = 0; round < rounds; round++) {
        await register();
        const numRuns = IN_A_ROUND;
        const requests = routes.flatMap((route) => fc.sample(route, { seed: SEED + round, numRuns }));
        const next = requests.values();
        const attacker = async (): Promise<void> => {
          for (const r of next) {
            const name = `${r.route} ${(r.body ?? '').slice(0, 120)}`;
            underWay.add(name);
            const { status, fault } = await attack(r).finally(() => underWay.delete(name));
            sent += 1;
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            if (fault !== undefined && !faults.has(r.route)) faults.set(r.route, fault);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, attacker));
        if (round === Math.floor(rounds / 10)) warm = used();
      }
      const end = used();
      expect(end.heap - (warm?.heap ?? 0)).toBeLessThan(MOST_HEAP_GROWTH);
      expect(end.rss - (warm?.rss ?? 0)).toBeLessThan(MOST_RSS_GROWTH);
      process.stdout.write(`heap ${mb(warm?.heap)} → ${mb(end.heap)} MB, RSS ${mb(warm?.rss)} → ${mb(end.rss)} MB\n`);
    };
    const raging = storm();
    const longest = await longestTurnMs(raging, (ms) => {
      if (ms > LONGEST_TURN_MS / 4) longTurns = [...longTurns, `${ms} ms: ${[...underWay].join(' | ')}`].slice(-5);
    });
    process.stdout.write(
      `${sent} requests, ${routes.length} routes, seed ${SEED}: ${[...statuses]
        .sort(([a], [b]) => a - b)
        .map(([s, n]) => `${s}×${n}`)
        .join(' ')}; longest turn ${longest} ms\n`,
    );
    await raging;
    expect([...faults.values()]).toEqual([]);
    expect(defects).toEqual([]);
    expect(longest < LONGEST_TURN_MS ? [] : longTurns).toEqual([]);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    for (const path of ['/v1/status', '/v1/nodes', '/info/nodes', '/healthz'])
      expect([path, (await send({ method: 'GET', path, headers: {} })).status]).toEqual([path, 200]);
  }, 1_800_000);
});

/** After everything that can be collected has been. */
function used(): { heap: number; rss: number } {
  gc();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, rss };
}

const mb = (bytes = 0): string => (bytes / 1024 / 1024).toFixed(0);
