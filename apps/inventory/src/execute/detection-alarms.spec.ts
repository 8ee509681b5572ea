import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { buildConfig, startService, type RunningService } from '#service';
import { InventoryModule } from '../inventory.module.js';
import { FakeFleet, specDetection } from '../testing/fake-fleet.js';
import { until } from '../testing/until.js';
import { NO_QUORUM_AFTER_MS, DEGRADED_AFTER_MS, SILENT_AFTER_MS } from '../plan/alarms/detection-alarms.js';

/** Inventory on a real server; the spec plays the detector. */
describe('alarms about what the detector sees', () => {
  let nats: TestNats;
  let fleet: FakeFleet;
  let inventory: RunningService;

  beforeAll(async () => {
    nats = await startTestNats();
    fleet = await FakeFleet.open(nats.url, ['n-1', 'n-2', 'n-3']);
    const values = {
      cluster: 'lab',
      instance: 'inventory-1',
      dataDir: join(nats.dir, 'data'),
      logLevel: process.env['SPEC_LOG'] ?? 'silent',
      nats: { servers: [nats.url] },
      initial: { detection: specDetection },
    };
    inventory = await startService('inventory', InventoryModule, { config: buildConfig(values, undefined, 'spec') });
    await fleet.start();
  });

  afterAll(async () => {
    await inventory.close();
    await fleet.close();
    await nats.stop();
  });

  const active = async (): Promise<string[]> =>
    (await fleet.bus.call('inventory.alarms.list', {})).items.map((a) => `${a.code}=${a.subject}`).sort();
  const alarms = (...ids: string[]): Promise<unknown> =>
    until(async () => JSON.stringify(await active()) === JSON.stringify(ids), `alarms [${ids.join(' ')}]`, {
      timeoutMs: SILENT_AFTER_MS + 5_000,
      everyMs: 100,
    });

  it('stand beside the verdict as of now, which anybody may ask for', async () => {
    const { verdict } = await fleet.bus.call('inventory.nodes.verdict', { name: 'n-1' });
    expect(verdict).toMatchObject({ node: 'n-1', verdict: 'UP', evidence: { ownReportAgeMs: 50 } });
    const agents = await until(async () => {
      const { items } = await fleet.bus.call('inventory.agents.metrics', { limit: 2 });
      return items.length === 2 && items.every((a) => a.fresh) && items;
    }, 'agents that report');
    expect(agents).toMatchObject([
      { node: 'n-1', epoch: 1, abstains: false },
      { node: 'n-2', epoch: 1 },
    ]);
  });

  it('are raised for a node, then for its network instead, and cleared', async () => {
    await fleet.say('n-1', { verdict: 'DEGRADED', networks: ['backend'] });
    await alarms('node-degraded=n-1');
    await fleet.say('n-2', { verdict: 'DEGRADED', networks: ['backend'] });
    await alarms('network-down=backend');
    await fleet.say('n-1', { verdict: 'UP' });
    await alarms('node-degraded=n-2');
    await fleet.say('n-2', { verdict: 'UP' });
    await alarms();
  });

  it('are not raised for each node of a network that comes back node by node', async () => {
    const names = ['n-1', 'n-2'];
    const raised = async (): Promise<number[]> =>
      (await fleet.bus.call('inventory.alarms.list', { all: true })).items
        .filter((a) => a.code === 'node-degraded')
        .map((a) => a.count);
    const before = await raised();
    for (const n of names) await fleet.say(n, { verdict: 'DEGRADED', networks: ['backend'] });
    await alarms('network-down=backend');
    // Longer down than any single node may be without an alarm.
    await pause(DEGRADED_AFTER_MS + 500);
    await fleet.say('n-1', { verdict: 'UP' });
    await alarms();
    await fleet.say('n-2', { verdict: 'UP' });
    await until(
      async () => (await fleet.bus.call('inventory.nodes.get', { name: 'n-2' })).verdict?.verdict === 'UP' || undefined,
      'n-2 up',
    );
    expect(await raised()).toEqual(before);
  });

  it('are raised for two machines of one name, and cleared', async () => {
    await fleet.say('n-3', { verdict: 'UNKNOWN', reason: 'CONFLICT: two machines report under this name.' });
    await alarms('conflict=n-3');
    await fleet.say('n-3', { verdict: 'UP' });
    await alarms();
  });

  it('are raised for what beacons carry beside the verdicts, and cleared when they do not any more', async () => {
    const message = 'n-1 and n-2 do not hear each other on backend.';
    fleet.conditions = [{ code: 'link-down', subject: 'n-1~n-2', severity: 'warning', message }];
    await alarms('link-down=n-1~n-2');
    fleet.conditions = [];
    await alarms();
  });

  it('are raised for a blind detector, for a silent one instead, and cleared', async () => {
    fleet.sighted = false;
    const since = performance.now();
    await alarms('blind=fleet');
    expect(performance.now() - since).toBeGreaterThan(NO_QUORUM_AFTER_MS - 200);
    fleet.detectorSilent = true;
    await alarms('detector-silent=detector');
    Object.assign(fleet, { sighted: true, detectorSilent: false });
    await alarms();
  });
});
