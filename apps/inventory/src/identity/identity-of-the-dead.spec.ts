import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  identityBasis,
  type AlarmRecord,
  type DeviceFacts,
  type IncidentRecord,
  type NodeRecord,
  type PowerIdentity,
} from '#contracts';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

const g = (n: number): string => `00112233445566778899aabbccddee${String(n).padStart(2, '0')}`;

/** The judge as a whole on a real server; the spec plays agents, detector and the devices. */
describe('a power device, before its node is switched off', () => {
  let served: ServedFleet;
  /** What each node's device says; absent: it cannot be read. */
  const says = new Map<string, DeviceFacts>();

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6', 'n-7']);
    served.fleet.identify = (node) => {
      const seen = says.get(node.name);
      return node.powerLevels.flat().map((d) => ({
        ...{ id: d.id, basis: identityBasis(d) },
        ...(seen === undefined ? { code: 'BMC_TIMEOUT' } : { seen }),
      }));
    };
  });
  afterAll(() => served.stop());

  const nodes = () => served.fleet.bus.bucket<NodeRecord>('nodes');
  const record = async (name: string): Promise<NodeRecord> => (await nodes().get(name))?.value as NodeRecord;
  const change = (name: string, o: Partial<NodeRecord>) => nodes().mutate(name, (c) => c && { ...c.value, ...o });
  const isOf = (n: number): Partial<NodeRecord> => ({ hardware: { systemUuid: g(n), at: 1 } });
  const known = async (name: string, o: Omit<PowerIdentity, 'at' | 'basis'>): Promise<Partial<NodeRecord>> => {
    const [device] = (await record(name)).powerLevels.flat();
    return { powerIdentity: { bmc: { ...o, at: 1, basis: device ? identityBasis(device) : '' } } };
  };
  const phase = (name: string, ...phases: string[]): Promise<IncidentRecord> =>
    until(
      async () => {
        const i = (await served.fleet.bus.bucket<IncidentRecord>('incidents').get(name))?.value;
        return i !== undefined && phases.includes(i.phase) && i;
      },
      `incident of ${name} ${phases.join(' or ')}`,
    );
  const alarm = (code: string, subject: string): Promise<AlarmRecord> =>
    until(
      async () =>
        (await served.fleet.bus.call('inventory.alarms.list', {})).items.find(
          (a) => a.code === code && a.subject === subject,
        ),
      `alarm ${code} of ${subject}`,
    );

  it('that has become another machine’s since it was proven switches nothing off, until somebody answers for it', async () => {
    await change('n-1', {
      ...isOf(1),
      ...(await known('n-1', { result: 'proven', by: 'guid', seen: { guid: g(1) } })),
    });
    await change('n-2', isOf(2));
    says.set('n-1', { guid: g(2) });
    await served.fleet.die('n-1');
    const held = await phase('n-1', 'suppressed', 'fencing');
    expect(held).toMatchObject({ phase: 'suppressed', gate: 'NOT_FENCEABLE' });
    expect(held.gates.find((gate) => gate.gate === 'NOT_FENCEABLE')?.detail).toContain('n-2');
    expect((await alarm('power-identity', 'n-1')).message).toMatch(/n-2.*muster node power-device acknowledge n-1 bmc/);
    const order = { by: 'ann', name: 'n-1', device: 'bmc', reason: 'the board of n-2 is in it' };
    const view = await served.fleet.bus.call('inventory.nodes.acknowledge', order);
    expect(view.powerIdentity?.['bmc']?.acknowledged).toMatchObject({ by: 'ann' });
    await phase('n-1', 'fencing');
  });

  it('that cannot be read goes by what it was: one that was proven is left to its fencer, which asks it again', async () => {
    await change('n-3', {
      ...isOf(3),
      ...(await known('n-3', { result: 'proven', by: 'guid', seen: { guid: g(3) } })),
    });
    await change('n-4', {
      ...isOf(4),
      ...(await known('n-4', { result: 'mismatch', why: 'w', seen: { guid: g(9) } })),
    });
    await served.fleet.die('n-3');
    await phase('n-3', 'fencing');
    await served.fleet.die('n-4');
    expect((await phase('n-4', 'suppressed', 'fencing')).gate).toBe('NOT_FENCEABLE');
  });

  it('is compared in good days, and again when the machine has said who it is', async () => {
    says.set('n-5', { guid: g(5) });
    const [was] = (await record('n-5')).powerLevels.flat();
    await change('n-5', { powerLevels: [[{ ...was!, address: '127.0.0.5' }]] });
    await until(async () => (await record('n-5')).powerIdentity?.['bmc']?.result === 'unproven', 'n-5 read');
    await change('n-5', isOf(5));
    await until(async () => (await record('n-5')).powerIdentity?.['bmc']?.result === 'proven', 'n-5 proven');
    expect(await served.fleet.bus.call('inventory.nodes.identify', { by: 'ann', name: 'n-5' })).toMatchObject({
      devices: [{ id: 'bmc', standing: 'proven', identity: { by: 'guid' } }],
    });
  });

  it('at which another node has its own, as it stands in the store, switches neither off, and all are named', async () => {
    const { powerLevels } = await record('n-7');
    await change('n-6', { powerLevels });
    expect((await alarm('power-place', 'n-6')).message).toContain('n-7');
    expect((await alarm('power-place', 'n-7')).message).toContain('n-6');
    await served.fleet.die('n-6');
    expect((await phase('n-6', 'suppressed', 'fencing')).gate).toBe('NOT_FENCEABLE');
  });
});
