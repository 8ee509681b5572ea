import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PERMITS_KEY, type IncidentPhase, type IncidentRecord, type NodeRecord, type Permits } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** A running inventory on a real server; the spec plays agents, detector and workers. Of five nodes two may be unhealthy. */
describe('what counts as a storm', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4', 'n-5']);
    fleet = served.fleet;
  });
  afterEach(() => served.stop());

  const incident = async (node: string): Promise<IncidentRecord | undefined> =>
    (await fleet.bus.bucket<IncidentRecord>('incidents').get(node))?.value;
  const phase = (node: string, ...phases: IncidentPhase[]): Promise<IncidentRecord> =>
    until(
      async () => {
        const i = await incident(node);
        return i !== undefined && phases.includes(i.phase) && i;
      },
      `incident of ${node} ${phases.join(' or ')}`,
    );
  const permits = async (): Promise<Permits | undefined> =>
    (await fleet.bus.bucket<Permits>('admission').get(PERMITS_KEY))?.value;
  const remembered = (o: Permits): Promise<unknown> =>
    fleet.bus.bucket<Permits>('admission').mutate(PERMITS_KEY, () => o);

  it('is over for nobody when the others come back: who is still silent is not powered off', async () => {
    await fleet.dieTogether('n-1', 'n-2', 'n-3');
    for (const n of ['n-1', 'n-2', 'n-3']) expect((await phase(n, 'suppressed', 'fencing')).gate).toBe('BRAKE');
    await fleet.revive('n-3');
    await phase('n-3', 'cancelled');
    await until(async () => (await permits())?.trips?.[0]?.members['n-3']?.returned, 'the return is noted');
    // Only whom an operator lets go is powered off; then the others have been looked at as well.
    await fleet.bus.call('inventory.incidents.release', { by: 'eve', node: 'n-1', reason: 'it is dead' });
    await phase('n-1', 'fencing');
    expect((await incident('n-2'))?.steps.map((s) => s.phase)).not.toContain('fencing');
  });

  it('is shown with its figures, and ended by an operator, for all that are not back or for some', async () => {
    await fleet.dieTogether('n-1', 'n-2', 'n-3');
    for (const n of ['n-1', 'n-2', 'n-3']) await phase(n, 'suppressed');
    const storm = await until(
      async () => (await fleet.bus.call('inventory.storms.list', {})).items.find((s) => s.rest.length === 3),
      'a storm of three',
    );
    const { id } = storm;
    expect(storm).toMatchObject({ cause: 'brake', rest: ['n-1', 'n-2', 'n-3'], limit: 2 });
    expect(storm).not.toHaveProperty('resumesAt');
    expect((await fleet.bus.call('inventory.status', {})).storms).toMatchObject([{ id }]);
    expect((await fleet.bus.call('inventory.incidents.get', { node: 'n-1' })).storms).toMatchObject([{ id }]);
    await until(
      async () =>
        (await fleet.bus.call('inventory.alarms.list', {})).items.find(
          (a) => a.code === 'brake' && a.message.includes(id),
        ),
      'an alarm that names the storm',
    );
    const by = { by: 'eve', id, reason: 'seen dark' };
    await expect(fleet.bus.call('inventory.storms.release', { ...by, nodes: ['n-5'] })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    });
    await expect(fleet.bus.call('inventory.storms.get', { id: 's-0' })).rejects.toMatchObject({ code: 'NOT_FOUND' });

    const confirmed = await fleet.bus.call('inventory.storms.confirm', { ...by, nodes: ['n-1'] });
    expect(confirmed.nodes).toEqual([{ node: 'n-1', ok: true }]);
    expect((await phase('n-1', 'fenced', 'recovering', 'recovered')).proof).toMatchObject({
      kind: 'manual',
      by: 'eve',
    });
    const fewer = await until(async () => {
      const now = await fleet.bus.call('inventory.storms.get', { id });
      return now.rest.length === 2 && now;
    }, 'two are left');
    expect(fewer.resumesAt).toBeGreaterThan(Date.now());

    await fleet.bus.call('inventory.storms.release', { ...by, nodes: ['n-2'] });
    await phase('n-2', 'fencing');
    expect((await incident('n-3'))?.phase).toBe('suppressed');
    await fleet.bus.call('inventory.storms.release', by);
    await phase('n-3', 'fencing');
    await until(
      async () => (await fleet.bus.call('inventory.storms.get', { id })).rest.length === 0,
      'nobody is left in it',
    );
  });

  it('holds who has its permit already, and no command yet', async () => {
    await fleet.dieTogether('n-1', 'n-2');
    for (const n of ['n-1', 'n-2']) await phase(n, 'fencing');
    await fleet.die('n-3');
    for (const n of ['n-1', 'n-2', 'n-3']) expect((await phase(n, 'suppressed')).gate).toBe('BRAKE');
  });

  it('holds who is silent when a blindness by missing reports ends', async () => {
    fleet.blindBy = 'reports';
    fleet.sighted = false;
    await fleet.say('n-1', { verdict: 'UNKNOWN' });
    await until(async () => !(await fleet.bus.call('inventory.status', {})).detector.sighted, 'it is blind');
    fleet.sighted = true;
    await fleet.die('n-1');
    expect((await phase('n-1', 'suppressed', 'fencing')).gate).toBe('BRAKE');
    expect((await permits())?.trips).toMatchObject([{ cause: 'blindness', members: { 'n-1': {} } }]);
  });

  it('holds nobody because the detector itself was away', async () => {
    fleet.blindBy = 'own';
    fleet.sighted = false;
    await until(async () => !(await fleet.bus.call('inventory.status', {})).detector.sighted, 'it is blind');
    fleet.sighted = true;
    await fleet.die('n-1');
    await phase('n-1', 'fencing');
  });

  it('counts a permit by its true age, whoever has restarted', async () => {
    const granted = ['n-4', 'n-5'].map((node) => ({ incident: `x-${node}`, node, at: 1 }));
    await remembered({ granted, ages: { 'permit/x-n-4': 120_000, 'permit/x-n-5': 120_000 } });
    const leave = await served.join();
    await leave();
    await fleet.die('n-1');
    const { gates } = await phase('n-1', 'fencing', 'suppressed');
    expect(gates.find((g) => g.gate === 'BRAKE')).toMatchObject({ pass: true });
    expect(gates.find((g) => g.gate === 'CAP')?.detail).toContain('2 permit(s)');
  });

  it('does not count two machines that have waited for spare parts for long', async () => {
    await fleet.dieTogether('n-4', 'n-5');
    const ages: Record<string, number> = {};
    for (const n of ['n-4', 'n-5']) {
      const { id } = await phase(n, 'fencing');
      ages[`incident/${id}`] = 700_000;
      const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1, endedAt: 2 };
      await fleet.bus
        .bucket<IncidentRecord>('incidents')
        .mutate(n, (i) => i && { ...i.value, phase: 'failed', commands: [off], retryAt: 9e15 });
    }
    await remembered({ granted: [], ages });
    await fleet.die('n-1');
    await phase('n-1', 'fencing');
  });
});

/** Ten times as fast, since a storm opens two minutes after the last return. */
describe('a rack of 30 in a fleet of 100', () => {
  const names = Array.from({ length: 100 }, (_, n) => `n-${n + 1}`);
  const rack = names.slice(0, 30);
  let served: ServedFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(names, { hurry: 10 });
    const nodes = served.fleet.bus.bucket<NodeRecord>('nodes');
    await Promise.all(rack.map((n) => nodes.mutate(n, (e) => e && { ...e.value, failureDomain: 'rack-30' })));
  });
  afterEach(() => served.stop());

  it('that goes silent at once is not powered off, raises one alarm for each gate, and ends when it is back', async () => {
    const { bus } = served.fleet;
    const incidents = async (): Promise<IncidentRecord[]> =>
      (await bus.bucket<IncidentRecord>('incidents').list()).map((e) => e.value);
    const braking = async (): Promise<string[]> =>
      (await bus.call('inventory.alarms.list', {})).items
        .filter((a) => ['brake', 'domain-down', 'fencing-suppressed'].includes(a.code) && a.cleared === undefined)
        .map((a) => `${a.code}=${a.subject}`)
        .sort();
    await served.fleet.dieTogether(...rack);
    await until(async () => {
      const all = await incidents();
      return all.length === rack.length && all.every((i) => i.phase === 'suppressed');
    }, 'all of the rack suppressed');
    await until(async () => (await braking()).length > 0, 'an alarm');
    expect(await braking()).toEqual(['brake=fleet', 'domain-down=rack-30']);

    for (const n of rack) await served.fleet.revive(n);
    await until(async () => (await incidents()).every((i) => i.phase === 'cancelled'), 'all cancelled');
    await until(async () => (await bus.call('inventory.storms.list', {})).items.length === 0, 'the storm is over');
    await until(async () => (await braking()).length === 0, 'no alarm');
    const all = await incidents();
    expect(all.flatMap((i) => i.commands)).toEqual([]);
    expect(all.flatMap((i) => i.steps.map((s) => s.phase))).not.toContain('fencing');
  }, 60_000);
});
