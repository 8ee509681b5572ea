import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IncidentRecord, PlanItem, PlanView } from '#contracts';
import { POWER_QUARANTINE_MS } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** A running inventory on a real server; the spec plays agents, detector and fencer. */
describe('what the conductor would do next', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  const nodes = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'];

  beforeEach(async () => {
    served = await ServedFleet.start(nodes);
    fleet = served.fleet;
  });
  afterEach(() => served.stop());

  const plan = (node?: string): Promise<PlanView> =>
    fleet.bus.call('inventory.plan', node === undefined ? {} : { node });
  const item = (what: string, fits: (i: PlanItem) => boolean, node?: string): Promise<PlanItem> =>
    until(async () => (await plan(node)).items.find(fits), what);

  it('is nothing while all is well, and refuses a node that is not known', async () => {
    expect(await plan()).toMatchObject({ conductor: 'inventory-1', mode: 'enforce', items: [] });
    await expect(plan('nobody')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
  });

  it('is in mode observe what would be done in mode enforce, and where the work would go', async () => {
    await served.runs('db', 'n-1');
    await fleet.bus.call('inventory.fencing.put', { by: 'eve', mode: 'observe' });
    await fleet.die('n-1');
    const would = await item('the plan for n-1', (i) => i.about === 'incident' && i.does === 'would', 'n-1');
    expect(would).toMatchObject({ name: 'n-1', next: 'would power n-1 off', again: { inMs: 500 } });
    expect(would.reason).toMatch(
      /^All gates pass\. Once it is proven off, by the fleet as of now: db to n-[2-5]\. The mode is/,
    );
    expect((await plan('n-2')).items.filter((i) => i.about === 'incident')).toEqual([]);
  });

  it('names the gate of a storm with its figures, and the storm', async () => {
    await fleet.dieTogether('n-1', 'n-2', 'n-3');
    const held = await item('n-1 held', (i) => i.gate === 'BRAKE', 'n-1');
    expect(held).toMatchObject({ does: 'waits', next: 'stays blocked by BRAKE' });
    expect(held.figures).toEqual([{ of: 'unhealthy nodes', count: 3, limit: 2 }]);
    const storm = await item('the storm', (i) => i.about === 'storm');
    expect(storm).toMatchObject({
      nodes: ['n-1', 'n-2', 'n-3'],
      figures: [{ of: 'members that are not back', count: 3, limit: 2 }],
    });
  });

  it('names what stands against each node for a workload that fits nowhere', async () => {
    for (const name of nodes) await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name, reason: 'full' });
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'db', workload: {} });
    const db = await item('the plan for db', (i) => i.about === 'workload');
    expect(db).toMatchObject({ name: 'db', does: 'waits', again: { when: 'a node in service has room for it' } });
    for (const name of nodes) expect(db.reason).toContain(name);
  });

  it('tells when a cordon ends by itself', async () => {
    const order = { by: 'eve', name: 'n-2', reason: 'new disk', until: Date.now() + 3_600_000 };
    await fleet.bus.call('inventory.nodes.cordon', order);
    const end = await item('the end of the cordon', (i) => i.about === 'cordon', 'n-2');
    expect(end).toMatchObject({ name: 'n-2', nodes: ['n-2'], does: 'waits', next: 'ends its cordon' });
    expect(end.again.inMs).toBeGreaterThan(3_500_000);
  });

  it('tells how long the quarantine still holds a power-on', async () => {
    await fleet.die('n-1');
    const incidents = fleet.bus.bucket<IncidentRecord>('incidents');
    const i = await until(async () => {
      const now = await incidents.get('n-1');
      return now?.value.phase === 'fencing' && now;
    }, 'n-1 is to be fenced');
    const fencing = await item('the plan for n-1', (x) => x.about === 'incident', 'n-1');
    expect(fencing).toMatchObject({ does: 'waits', next: 'is powered off by the fencing leader' });
    const at = Date.now();
    const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const };
    await incidents.update(
      'n-1',
      {
        ...i.value,
        phase: 'fenced',
        epoch: 1,
        commands: [{ ...off, at, endedAt: at, result: { ok: true } }],
        proof: { kind: 'read-back', at, level: 0 },
      },
      i.revision,
    );
    const power = await item('the power-on', (x) => x.about === 'power', 'n-1');
    expect(power).toMatchObject({ does: 'waits', next: 'powers it on', reason: 'A power-off may still take effect.' });
    const left = power.again.inMs ?? 0;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(POWER_QUARANTINE_MS);
    expect(power.figures).toEqual([
      { of: 'ms of the power quarantine', count: POWER_QUARANTINE_MS - left, limit: POWER_QUARANTINE_MS },
    ]);
  });

  it('is told by every replica, and by the next conductor once the first is gone', async () => {
    const leave = await served.join();
    for (let n = 0; n < 8; n += 1) expect((await plan()).conductor).toBe('inventory-1');
    await leave();
    const next = await until(async () => {
      try {
        return await plan();
      } catch (e) {
        expect(e).toMatchObject({ code: 'NOT_LEADER' });
        return undefined;
      }
    }, 'the next conductor');
    expect(next.conductor).toBe('inventory-2');
  });
});
