import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { Subjects } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { type ApiPaths, spoiled, type Target, targetsOf } from '../../gateway/src/testing/spoiled-bodies.js';
import { until } from '../../inventory/src/testing/until.js';
import { RunningInventory } from '../../inventory/src/testing/running-inventory.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

/** Random bodies for each route. */
const RUNS = runs(8);

describe(`bodies that are nearly good, over gateway and inventory, MUSTER_SEED=${SEED}`, () => {
  let inventory: RunningInventory;
  let gateway: GatewayBeside;
  let targets: Target[];

  const send = ({ method, path }: Pick<Target, 'method' | 'path'>, body: string): Promise<Response> =>
    fetch(gateway.url + path, {
      method,
      // With a key each, so that the gateway's own NATS user keeps its answers.
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body,
    });

  /** The node that the paths name; one of the bodies may have replaced it. */
  const register = async (): Promise<number> => {
    const node = { label: 'rack1', serial: 'a1', networks: { management: { address: '10.0.0.11' } } };
    return (await send({ method: 'POST', path: '/v1/nodes' }, JSON.stringify(node))).status;
  };

  beforeAll(async () => {
    inventory = await RunningInventory.start();
    await inventory.work('provisioner', ['ansible']);
    await inventory.work('fencer', ['ipmitool']);
    // A nats-server of 2.9 does not tell across accounts that nobody answers: each question would wait for its limit.
    const nobody = { err: { code: 'NO_RESPONDER', message: 'no power is switched here' } };
    inventory.as('fencer').answer(Subjects.rpc('fencer', '>'), () => nobody);
    gateway = await startGatewayBeside(inventory.as('gateway'));
    const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: ApiPaths };
    targets = targetsOf(document.paths);
    await until(async () => (await register()) === 201, 'a node is registered');
  });
  afterAll(async () => {
    await gateway?.close();
    await inventory?.stop();
  });

  it('are taken or refused, and never a failure of ours', async () => {
    for (const t of targets.filter((x) => x.path.startsWith('/v1/'))) {
      await register();
      await fc.assert(
        fc.asyncProperty(spoiled(t.example), async (body) => {
          const answer = await send(t, body);
          const text = await answer.text();
          if ([500, 504].includes(answer.status)) throw new Error(`${t.method} ${t.path}: ${text}`);
        }),
        { seed: SEED, numRuns: RUNS },
      );
    }
    expect((await fetch(`${gateway.url}/v1/status`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/v1/nodes`)).status).toBe(200);
    expect((await inventory.as('inventory').bucket('idempotency').list()).length).toBeGreaterThan(RUNS);
  });

  it('and a job that has the name of what every object has is not found', async () => {
    const discover = JSON.stringify({ kind: 'discover', addresses: ['10.0.0.99'] });
    expect((await send({ method: 'POST', path: '/v1/operations' }, discover)).status).toBe(202);
    for (const name of ['toString', 'valueOf', 'constructor', '__proto__'])
      for (const [method, path] of [
        ['GET', `/v1/jobs/${name}`],
        ['GET', `/v1/jobs/${name}/log`],
        ['POST', `/v1/jobs/${name}/cancel`],
      ] as const) {
        const answer = await fetch(gateway.url + path, { method });
        const { code } = (await answer.json()) as { code: string };
        // One of these names the gateway takes for no name at all.
        const unknown = name === '__proto__' ? 'NOT_FOUND' : 'JOB_UNKNOWN';
        expect([method, path, answer.status, code]).toEqual([method, path, 404, unknown]);
      }
  });
});
