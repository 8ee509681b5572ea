import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import {
  DetectionProfiles,
  MANAGEMENT,
  Subjects,
  type FencingSettings,
  type NodeEvidence,
  type Report,
  type StatusView,
} from '#contracts';
import { startService, type RunningService } from '#service';
import { DetectorModule } from '../../detector/src/detector.module.js';
import { detectorConfig } from '../../detector/src/testing/played-fleet.js';
import { RunningInventory } from '../../inventory/src/testing/running-inventory.js';
import { until } from '../../inventory/src/testing/until.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

const NAMES = ['a-1', 'b-1'];
/** A name of no machine (RFC 6761). */
const SILENT = 'witness.invalid:80';
const NO_WITNESS = 'With two members and no witness nobody is called dead';

/** Over HTTP, on a running inventory and a running detector; the spec plays the two agents. */
describe('a fleet of two members', () => {
  let inventory: RunningInventory;
  let detector: RunningService;
  let gateway: GatewayBeside;
  let witness: Server;
  let reports: NodeJS.Timeout;
  let seq = 0;
  let isDead = false;

  const send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${gateway.url}/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const weaknesses = async (): Promise<StatusView['weaknesses']> =>
    (await send<StatusView>('GET', '/status')).weaknesses;
  const enforce = (): Promise<FencingSettings & { warnings?: string[] }> =>
    send('PUT', '/fencing', { mode: 'enforce' });
  const verdict = async (kind: string, reason = ''): Promise<void> => {
    await until(async () => {
      const { verdict } = await send<NodeEvidence>('GET', '/nodes/b-1/evidence');
      return verdict?.verdict === kind && verdict.reason.includes(reason);
    }, `b-1 ${kind}: ${reason}`);
  };
  const report = (node: string, peer: string): Report => ({
    ...{ v: 1, node, bootId: `boot-${node}`, epoch: 1, seq, listVersion: 1, networks: [MANAGEMENT] },
    peers: [[peer, [isDead ? [DetectionProfiles.lan.misses, -1] : [0, 200]]]],
    health: { abstain: false, sendErrors: {}, loopGapMs: 1 },
  });
  const reportAll = (): void => {
    seq += 1;
    const publish = (node: string, peer: string): void =>
      inventory.as(`agent=${node}`).publish(Subjects.report(node), report(node, peer));
    publish('a-1', 'b-1');
    if (!isDead) publish('b-1', 'a-1');
  };

  beforeAll(async () => {
    inventory = await RunningInventory.start({ agents: NAMES, initial: { agentPort: 1 } });
    inventory.hushDetector();
    await inventory.work('provisioner', ['ansible']);
    gateway = await startGatewayBeside(inventory.as('gateway'));
    for (const [i, label] of ['a', 'b'].entries()) {
      const networks = { management: { address: `127.0.0.${i + 11}` } };
      await send('POST', '/nodes', { label, serial: '1', networks, vars: { ansible_port: 9 } });
    }
    const config = detectorConfig(inventory.nats, { users: true });
    detector = await startService('detector', DetectorModule, { config });
    reports = setInterval(reportAll, 200);
    witness = createServer().listen(0, '127.0.0.1');
    await once(witness, 'listening');
    await verdict('UP');
  });
  afterAll(async () => {
    clearInterval(reports);
    witness?.close();
    await gateway?.close();
    await detector?.close();
    await inventory?.stop();
  });

  it('is told that it needs a witness where fencing is enforced, in its status, and by each verdict that lacks it', async () => {
    expect((await enforce()).warnings).toEqual([expect.stringContaining(NO_WITNESS)]);
    expect(await weaknesses()).toEqual([
      {
        text: expect.stringContaining(NO_WITNESS) as string,
        remedy: { text: expect.any(String) as string, command: 'muster settings set witness=HOST:PORT' },
      },
    ]);
    isDead = true;
    await verdict('SUSPECT', 'a witness must answer, and none is set (muster settings set witness=HOST:PORT)');
  });

  it('is told of no weakness once a witness is set, which is named for as long as it does not answer', async () => {
    await send('PATCH', '/settings', { witness: SILENT });
    await until(async () => (await weaknesses()).length === 0, 'it is no weakness any more');
    expect(await enforce()).not.toHaveProperty('warnings');
    await verdict('SUSPECT', `witness ${SILENT} must answer, and has not`);
    await send('PATCH', '/settings', { witness: `127.0.0.1:${(witness.address() as AddressInfo).port}` });
    await verdict('DOWN');
  });
});
