import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Subjects, type EventMap } from '#contracts';
import { RunningInventory } from '../testing/running-inventory.js';

let sut: RunningInventory;
beforeAll(async () => {
  sut = await RunningInventory.start();
  await sut.work('provisioner', ['ansible']);
});
afterAll(() => sut?.stop());

/** The first audit event of the action, from the beginning. */
const audited = (action: string): Promise<EventMap['audit']> =>
  new Promise((resolve) => {
    const reader = sut.as('gateway').follow([Subjects.event('audit', '*')], { fromSeq: 1 }, (_subject, event) => {
      const { data } = event as { data: EventMap['audit'] };
      if (data.action !== action) return;
      void reader.close();
      resolve(data);
    });
  });

const node = { label: 'a', serial: '1', networks: { management: { address: '10.0.0.1' } }, enrolled: false };

describe('the audit', () => {
  it('says where a request came from', async () => {
    await sut.as('gateway').call('inventory.nodes.create', { by: 'ann', from: '10.0.0.9', node });
    expect(await audited('node-create')).toMatchObject({ by: 'ann', from: '10.0.0.9', outcome: 'accepted' });
    await sut
      .as('tools')
      .ask(Subjects.monitor('discovered'), { nodes: [{ label: 'b', serial: '1', addr: '10.0.0.2' }] });
    expect(await audited('monitor-event')).not.toHaveProperty('from');
  });

  it('says that a request was made with force', async () => {
    const gateway = sut.as('gateway');
    const order = { by: 'ann', reason: 'it is off', force: true };
    await expect(gateway.call('inventory.incidents.confirm', { ...order, node: 'a-9' })).rejects.toThrow(/a-9/);
    expect((await audited('confirm')).detail).toMatch(/^it is off \(forced\)/);
    const record = { bucket: 'incidents', key: 'a-9' };
    await expect(gateway.call('inventory.records.delete', { ...order, ...record })).rejects.toThrow(/a-9/);
    expect((await audited('record-delete')).detail).toMatch(/^it is off \(forced\)/);
    await expect(gateway.call('inventory.incidents.release', { ...order, node: 'a-9', force: false })).rejects.toThrow(
      /a-9/,
    );
    expect((await audited('release')).detail).not.toContain('forced');
  });

  it('has the note of who acknowledged an alarm, and so has the alarm', async () => {
    const alarms = sut.as('inventory').bucket('alarms');
    await alarms.create('no-room=db', {
      code: 'no-room',
      subject: 'db',
      severity: 'critical',
      message: 'nowhere',
      since: 1,
      count: 1,
    });
    const ack = (by: string, note?: string) =>
      sut.as('gateway').call('inventory.alarms.ack', { by, id: 'no-room=db', ...(note !== undefined && { note }) });
    expect(await ack('ann', 'a host is on its way')).toMatchObject({
      acknowledged: { by: 'ann', note: 'a host is on its way' },
    });
    expect(await audited('ack')).toMatchObject({ by: 'ann', detail: expect.stringContaining('a host is on its way') });
    expect((await ack('bob')).acknowledged).toMatchObject({ by: 'ann' });
    expect((await ack('bob', 'it is there')).acknowledged).toMatchObject({ by: 'bob', note: 'it is there' });
  });
});

describe('names that every object has', () => {
  it.each(['toString', 'constructor', 'valueOf', 'hasOwnProperty', '__proto__'])(
    'are those of nothing that there is: %s',
    async (id) => {
      const gateway = sut.as('gateway');
      await expect(gateway.call('inventory.jobs.get', { id })).rejects.toMatchObject({ code: 'JOB_UNKNOWN' });
      await expect(gateway.call('inventory.jobs.cancel', { by: 'spec', id })).rejects.toMatchObject({
        code: 'JOB_UNKNOWN',
      });
      await expect(gateway.call('inventory.incidents.get', { node: id })).rejects.toMatchObject({
        code: 'INCIDENT_UNKNOWN',
      });
      await expect(gateway.call('inventory.workloads.get', { name: id })).rejects.toMatchObject({
        code: 'WORKLOAD_UNKNOWN',
      });
      await expect(gateway.call('inventory.nodes.get', { name: id })).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
      await expect(gateway.call('inventory.claims.delete', { by: 'spec', id })).rejects.toMatchObject({
        code: 'CLAIM_UNKNOWN',
      });
      await expect(gateway.call('inventory.claims.get', { id })).rejects.toMatchObject({ code: 'CLAIM_UNKNOWN' });
    },
  );

  it('stand in a record where somebody put them', async () => {
    const vars = { toString: 'a', valueOf: { hasOwnProperty: 1 } };
    const networks = { management: { address: '10.0.0.7' }, toString: { address: '10.0.1.7' } };
    const made = await sut.as('gateway').call('inventory.nodes.create', {
      by: 'ann',
      node: { ...node, serial: '7', vars, networks },
    });
    expect(JSON.stringify(made.vars)).toBe(JSON.stringify(vars));
    expect(JSON.stringify(made.networks)).toBe(JSON.stringify(networks));
    const patch = { vars: { valueOf: null, isPrototypeOf: 'b' } };
    const edited = await sut.as('gateway').call('inventory.nodes.patch', { by: 'ann', name: 'a-7', patch });
    expect(JSON.stringify(edited.vars)).toBe('{"toString":"a","isPrototypeOf":"b"}');
    const globals = { toString: 'x', valueOf: [1] };
    const set = await sut.as('gateway').call('inventory.settings.patch', { by: 'ann', patch: { globals } });
    expect(JSON.stringify(set.globals)).toBe(JSON.stringify(globals));
  });
});
