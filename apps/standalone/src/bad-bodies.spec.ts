import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { runs, SEED } from '#contracts/testing/chance.js';
import { buildConfig, ServiceContext } from '#service';
import { startGateway, type RunningGateway } from '../../gateway/src/gateway.js';
import { type ApiPaths, spoiled, type Target, targetsOf } from '../../gateway/src/testing/spoiled-bodies.js';
import { until } from '../../inventory/src/testing/until.js';
import { RunningInventory } from '../../inventory/src/testing/running-inventory.js';

/** Random bodies for each route. */
const RUNS = runs(8);

describe(`bodies that are nearly good, over gateway and inventory, MUSTER_SEED=${SEED}`, () => {
  let inventory: RunningInventory;
  let gateway: RunningGateway;
  let url = '';
  let targets: Target[];
  const dir = mkdtempSync(join(tmpdir(), 'muster-bodies-'));

  const send = ({ method, path }: Pick<Target, 'method' | 'path'>, body: string): Promise<Response> =>
    fetch(url + path, {
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
    const http = { listen: '127.0.0.1:0' };
    const config = buildConfig({ instance: 'gateway-1', dataDir: dir, http }, undefined, 'spec');
    const context = new ServiceContext(config, inventory.as('gateway'), pino({ level: 'silent' }), 'gateway');
    gateway = await startGateway(context);
    const [address] = gateway.addresses;
    url = address?.kind === 'tcp' ? `http://127.0.0.1:${address.port}` : '';
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: ApiPaths };
    targets = targetsOf(document.paths);
    await until(async () => (await register()) === 201, 'a node is registered');
  });
  afterAll(async () => {
    await gateway?.close();
    await inventory?.stop();
    rmSync(dir, { recursive: true, force: true });
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
    expect((await fetch(`${url}/v1/status`)).status).toBe(200);
    expect((await fetch(`${url}/v1/nodes`)).status).toBe(200);
    expect((await inventory.as('inventory').bucket('idempotency').list()).length).toBeGreaterThan(RUNS);
  });
});
