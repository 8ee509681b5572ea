import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  defaultFencing,
  identityBasis,
  Subjects,
  type IncidentRecord,
  type MusterEvent,
  type NodeRecord,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import { aDevice, aNode } from '../testing/records.js';
import { RunningInventory, seen } from '../testing/running-inventory.js';
import { until } from '../testing/until.js';

type Action = RpcRequest<'inventory.nodes.power'>['action'];

describe('power by hand, asked of inventory', () => {
  let sut: RunningInventory;

  beforeAll(async () => {
    sut = await RunningInventory.start({ initial: { fencing: { ...defaultFencing, mode: 'enforce' } } });
    await sut.work('fencer', ['ipmitool']);
    const cordon = { reason: 'memory', by: 'eve', at: 1 };
    for (const name of ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'])
      await sut.as('inventory').bucket<NodeRecord>('nodes').create(name, aNode(name, { cordon }));
    await seen(sut.nodes, 'n-5', () => true);
  });
  afterAll(() => sut.stop());

  const act = (name: string, action: Action): Promise<RpcAnswer<'inventory.nodes.power'>> =>
    sut.as('gateway').call('inventory.nodes.power', { by: 'eve', name, action, reason: 'memory' });
  const stored = async (name: string): Promise<{ value: IncidentRecord; revision: number } | undefined> =>
    sut.as('inventory').bucket<IncidentRecord>('incidents').get(name);

  it('shows an order to a node without an incident in one that is closed, and takes no second one beside it', async () => {
    const { incident } = await act('n-1', 'on');
    const record = await stored('n-1');
    expect(record?.value).toMatchObject({
      id: incident,
      phase: 'closed',
      order: { action: 'on', by: 'eve', after: 0 },
    });
    await expect(act('n-1', 'soft')).rejects.toMatchObject({ code: 'NODE_BUSY' });
    expect((await stored('n-1'))?.revision).toBe(record?.revision);
    expect(sut.nodes.get('n-1')?.value.maintenance).toBeUndefined();
    const resetup = sut
      .as('gateway')
      .call('inventory.operations.submit', { by: 'eve', kind: 'resetup', nodes: ['n-1'] });
    await expect(resetup).rejects.toMatchObject({ code: 'NODE_BUSY' });
  });

  it('fences for off and for cycle, by the same gates, and keeps in mind which of them was asked for', async () => {
    expect((await act('n-2', 'cycle')).detail).toContain('NOT_FENCEABLE');
    const cycle = await seen(sut.incidents, 'n-2', (i) => i.phase === 'suppressed');
    expect(cycle).toMatchObject({
      cause: 'manual',
      by: 'eve',
      order: { action: 'on', bootId: 'boot-n-2' },
      commands: [],
    });
    // It waits at its gate: the power is its own until it is over, and off joins it.
    await expect(act('n-2', 'on')).rejects.toMatchObject({ code: 'INCIDENT_STATE' });
    expect(await act('n-2', 'off')).toMatchObject({ incident: cycle.id, detail: expect.stringContaining('joins') });
    expect((await stored('n-2'))?.value.order).toMatchObject({ done: true, ok: false });
  });

  it('tells of an order that off takes the place of: by whom, and whose it was', async () => {
    await act('n-5', 'on');
    const told = new Map<string, MusterEvent>();
    const subjects = [Subjects.event('audit', '*'), Subjects.event('incident', 'n-5')];
    const reader = sut.as('gateway').follow(subjects, { fromSeq: 1 }, (_subject, event) => {
      const e = event as MusterEvent;
      if (JSON.stringify(e.data).includes('superseded')) told.set(e.kind, e);
    });
    const off = { by: 'bob', name: 'n-5', action: 'off' as const, reason: 'it burns' };
    const { incident } = await sut.as('gateway').call('inventory.nodes.power', off);
    const by = 'superseded by bob, who ordered it off: it burns';
    expect((await stored('n-5'))?.value).toMatchObject({
      id: incident,
      steps: expect.arrayContaining([expect.objectContaining({ detail: expect.stringContaining(by) })]),
    });
    expect((await stored('n-5'))?.value.order).toBeUndefined();
    await until(() => told.size === 2, 'the audit and the story');
    await reader.close();
    const detail = expect.stringContaining(by);
    expect(told.get('audit')?.data).toEqual({
      by: 'bob',
      action: 'power-on-superseded',
      subject: 'n-5',
      detail,
      outcome: 'accepted',
    });
    expect(told.get('incident')?.data).toMatchObject({ incident, detail: expect.stringContaining('eve') });
  });

  it('switches nothing on where a person confirmed it down, who may stand before it', async () => {
    await act('n-4', 'cycle');
    const node = { by: 'eve', node: 'n-4', reason: 'the plug is out', force: true };
    const confirmed = await sut.as('gateway').call('inventory.incidents.confirm', node);
    expect(confirmed).toMatchObject({ phase: 'fenced', order: { action: 'on', done: true, ok: false } });
  });

  it('writes nothing where its device is known as another machine’s, and nobody answers for that', async () => {
    const known = { result: 'mismatch' as const, at: 1, why: 'it is that of n-1', basis: identityBasis(aDevice()) };
    await sut
      .as('inventory')
      .bucket<NodeRecord>('nodes')
      .create('n-6', aNode('n-6', { cordon: { reason: 'memory', by: 'eve', at: 1 }, powerIdentity: { bmc: known } }));
    await seen(sut.nodes, 'n-6', () => true);
    for (const action of ['on', 'off', 'soft', 'cycle'] as const)
      await expect(act('n-6', action)).rejects.toMatchObject({
        code: 'IDENTITY_MISMATCH',
        message: expect.stringContaining('muster node power-device acknowledge n-6 bmc'),
      });
    expect(await stored('n-6')).toBeUndefined();
    const answered = { by: 'ann', name: 'n-6', device: 'bmc', reason: 'its board came from a spare machine' };
    await sut.as('gateway').call('inventory.nodes.acknowledge', answered);
    expect(await act('n-6', 'on')).toMatchObject({ node: 'n-6', action: 'on' });
  });

  it('writes nothing at all in observe', async () => {
    await sut.as('gateway').call('inventory.fencing.put', { by: 'eve', mode: 'observe' });
    expect((await stored('n-1'))?.value.order).toMatchObject({ done: true, ok: false });
    for (const action of ['on', 'off', 'soft', 'cycle'] as const)
      await expect(act('n-3', action)).rejects.toMatchObject({ code: 'FENCING_REFUSED' });
    expect(await stored('n-3')).toBeUndefined();
    await expect(act('nobody-1', 'on')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
  });
});
