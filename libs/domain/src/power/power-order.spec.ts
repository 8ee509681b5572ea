import { describe, expect, it } from 'vitest';
import {
  defaultSettings,
  identityBasis,
  incidentIn,
  powerRecordOf,
  type NodeRecord,
  type PowerDevice,
  type PowerOrder,
} from '#contracts';
import { aNode as healthyNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import {
  lapsed,
  overtaken,
  refusedPower,
  withOrder,
  type NewOrder,
  type PowerAction,
  type PowerFacts,
} from './power-order.js';

const aNode = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  healthyNode(name, {
    powerLevels: [[{ id: 'bmc', driver: 'ipmitool', address: '127.0.0.1' }]],
    bootId: `boot-${name}`,
    ...o,
  });
const fencing = { ...defaultSettings('lab').fencing, mode: 'enforce' as const };
const facts = (o: Partial<PowerFacts> = {}): PowerFacts => ({
  node: aNode('n-1', { cordon: { reason: 'memory', by: 'eve', at: 1 } }),
  fencing,
  hold: undefined,
  incident: undefined,
  quarantined: undefined,
  workloads: [],
  fencers: 1,
  wallNow: 1_000,
  ...o,
});
const all: PowerAction[] = ['on', 'off', 'soft', 'cycle'];
const code = (action: PowerAction, o: Partial<PowerFacts> = {}): string | undefined =>
  refusedPower(action, facts(o))?.code;
const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 100, endedAt: 200 };

describe('power by hand', () => {
  it.each(all)('%s is given where nothing stands against it', (action) => {
    expect(code(action)).toBeUndefined();
  });

  it.each(all)('%s writes to no power device in observe, nor while fencing is paused', (action) => {
    const observe = refusedPower(action, facts({ fencing: { ...fencing, mode: 'observe' } }));
    expect(observe).toMatchObject({ code: 'FENCING_REFUSED', message: expect.stringContaining('enforce') });
    const paused = { until: 2_000, reason: 'audit', by: 'ann' };
    expect(code(action, { fencing: { ...fencing, paused } })).toBe('FENCING_REFUSED');
    expect(code(action, { fencing: { ...fencing, paused }, wallNow: 2_001 })).toBeUndefined();
  });

  it.each(all)('%s is refused under a job, without a device, and without a fencer', (action) => {
    expect(code(action, { hold: { job: 'j1', generation: 1, at: 1 } })).toBe('NODE_RESERVED');
    expect(code(action, { node: aNode('n-1', { powerLevels: [] }) })).toBe('FENCING_REFUSED');
    expect(code(action, { fencers: 0 })).toBe('NO_WORKERS');
    expect(code(action, { fencers: undefined })).toBe('NO_WORKERS');
  });

  describe('of a node with a device that is known as another machine’s', () => {
    const bmc: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '127.0.0.1' };
    const pdu: PowerDevice = { ...bmc, id: 'pdu', address: '127.0.0.2' };
    const cordon = { reason: 'memory', by: 'eve', at: 1 };
    const foreign = (d: PowerDevice, o: object = {}, powerLevels = [[bmc], [pdu]]): NodeRecord => {
      const known = { result: 'mismatch' as const, at: 1, why: 'it is that of n-2', basis: identityBasis(d), ...o };
      return aNode('n-1', { cordon, powerLevels, powerIdentity: { [d.id]: known } });
    };

    it.each(all)('%s is refused, with what it is and the commands that end it', (action) => {
      expect(refusedPower(action, facts({ node: foreign(bmc) }))).toMatchObject({
        code: 'IDENTITY_MISMATCH',
        status: 409,
        facts: { node: 'n-1', action, devices: ['bmc'] },
        message: expect.stringMatching(
          /bmc of n-1 is another machine's: it is that of n-2.*muster node power-device test n-1.*muster node power-device acknowledge n-1 bmc --reason/,
        ),
      });
    });

    it.each(all)(
      '%s is given where an administrator answers for it, and where the device was edited since',
      (action) => {
        const acknowledged = { by: 'ann', reason: 'spare board', at: 2 };
        expect(code(action, { node: foreign(bmc, { acknowledged }) })).toBeUndefined();
        expect(code(action, { node: foreign(bmc, {}, [[{ ...bmc, address: '127.0.0.9' }], [pdu]]) })).toBeUndefined();
      },
    );

    it('is refused where that device is one that it may come to', () => {
      for (const action of ['off', 'cycle'] as const)
        expect(code(action, { node: foreign(pdu) })).toBe('IDENTITY_MISMATCH');
      for (const action of ['on', 'soft'] as const) expect(code(action, { node: foreign(pdu) })).toBeUndefined();
      const incident = anIncident('n-1', { phase: 'recovered', commands: [{ ...off, device: 'pdu', level: 1 }] });
      expect(code('on', { node: foreign(pdu), incident })).toBe('IDENTITY_MISMATCH');
      expect(code('on', { node: foreign(bmc), incident })).toBeUndefined();
      const soft = { node: foreign(pdu, {}, [[bmc, pdu]]) };
      expect(code('soft', soft)).toBeUndefined();
      expect(code('on', soft)).toBe('IDENTITY_MISMATCH');
    });

    it('is refused also where off would join an incident, and off says how that goes on without the device', () => {
      const incident = anIncident('n-1', { phase: 'suppressed' });
      expect(refusedPower('off', facts({ node: foreign(bmc), incident }))).toMatchObject({
        code: 'IDENTITY_MISMATCH',
        message: expect.stringMatching(/seen to be down: muster node fence n-1 .*, then muster incident confirm n-1 /),
      });
      expect(refusedPower('on', facts({ node: foreign(bmc) }))?.message).not.toContain('confirm');
    });
  });

  it('is the business of an incident until that is recovered; off joins it', () => {
    const phases = ['open', 'investigating', 'suppressed', 'fencing', 'failed', 'fenced', 'recovering'] as const;
    for (const phase of phases) {
      const incident = anIncident('n-1', { phase, commands: [off] });
      for (const action of ['on', 'soft', 'cycle'] as const)
        expect(refusedPower(action, facts({ incident }))).toMatchObject({
          code: 'INCIDENT_STATE',
          facts: { phase, doNotPowerOnBefore: 16_200 },
        });
      expect(code('off', { incident })).toBeUndefined();
    }
  });

  it('of a node that is off is only on, and not before its power quarantine is over', () => {
    const incident = anIncident('n-1', { phase: 'recovered', commands: [off] });
    expect(code('on', { incident })).toBeUndefined();
    for (const action of ['off', 'cycle'] as const) expect(code(action, { incident })).toBe('INCIDENT_STATE');
    expect(refusedPower('on', facts({ incident, quarantined: 'an off may take effect' }))).toMatchObject({
      code: 'NODE_BUSY',
      facts: { doNotPowerOnBefore: 16_200 },
    });
  });

  it('is not given while another order, or the power-on after a recovery, is under way', () => {
    const order = { action: 'on' as const, by: 'eve', reason: 'x', at: 1, after: 0 };
    expect(code('on', { incident: anIncident('n-1', { phase: 'closed', order }) })).toBe('NODE_BUSY');
    expect(code('on', { incident: anIncident('n-1', { phase: 'closed', order: { ...order, done: true } }) })).toBe(
      undefined,
    );
    const powerOn = { wanted: true, requestedAt: 1 };
    expect(code('on', { incident: anIncident('n-1', { phase: 'recovered', powerOn }) })).toBe('NODE_BUSY');
  });

  it('shuts a system down only where nothing runs, somebody is heard, and nobody would fence it for that', () => {
    expect(code('soft', { workloads: ['db'] })).toBe('WORKLOADS_PRESENT');
    expect(code('soft', { node: aNode('n-1', { state: 'Disappeared' }) })).toBe('NOT_DISCOVERED');
    expect(code('soft', { node: aNode('n-1') })).toBe('FENCING_REFUSED');
    expect(code('soft', { node: aNode('n-1', { status: 'Unallocated' }) })).toBeUndefined();
  });
});

describe('an order', () => {
  const order = (o: Partial<NewOrder> = {}): NewOrder => ({
    ...{ id: 'new', node: aNode('n-1'), action: 'on', by: 'eve', reason: 'memory', at: 9 },
    ...o,
  });

  it('stands in the incident that is recovered or over, after the commands that it has', () => {
    const was = anIncident('n-1', { phase: 'recovered', commands: [off] });
    const now = withOrder(was, order());
    expect(now).toMatchObject({ id: was.id, phase: 'recovered', order: { action: 'on', by: 'eve', after: 1 } });
    expect(now.commands).toBe(was.commands);
  });

  it('of a node without an incident is shown as one that is closed, so that it hinders nothing, and stored without', () => {
    const now = withOrder(undefined, order());
    expect(now).toMatchObject({ id: 'new', node: 'n-1', phase: 'closed', by: 'eve', reason: 'memory', commands: [] });
    const stored = powerRecordOf(now);
    expect(stored).not.toHaveProperty('incident');
    expect(stored).toMatchObject({
      log: { commands: [] },
      order: { phase: 'ordered', story: { id: 'new', since: 9 } },
    });
    expect(incidentIn(stored)).toEqual(now);
  });

  it('to switch on says what its boot may start a second time', () => {
    const node = aNode('n-1', { ungated: ['db'] });
    const told = (o: Partial<NewOrder>): string | undefined => withOrder(undefined, order(o)).steps[0]?.detail;
    expect(told({ node })).toBe(
      "eve ordered power on: memory (db ran there without Muster's start gate: its boot may start that again)",
    );
    expect(told({ node, action: 'soft' })).toBe('eve ordered power soft: memory');
    expect(told({})).toBe('eve ordered power on: memory');
  });

  it('to shut down is meant for the boot that runs', () => {
    expect(withOrder(undefined, order({ action: 'soft' })).order?.bootId).toBe('boot-n-1');
    // `on`: until the node is heard in another boot than this, it may be booting.
    expect(withOrder(undefined, order({ action: 'on' })).order?.bootId).toBe('boot-n-1');
  });

  it('that nobody carried out is void, and another one is not', () => {
    const i = withOrder(undefined, order());
    const given = i.order as PowerOrder;
    expect(lapsed(i, given)?.order).toMatchObject({ done: true, ok: false });
    expect(lapsed({ ...i, order: { ...given, at: 10 } }, given)).toBeUndefined();
    expect(lapsed({ ...i, order: { ...given, done: true, ok: true } }, given)).toBeUndefined();
  });
});

describe('a soft whose ground is gone', () => {
  const order: PowerOrder = { action: 'soft', by: 'eve', reason: 'memory', at: 5, after: 1 };
  const i = anIncident('n-1', { phase: 'closed', order });
  const cordoned = aNode('n-1', { cordon: { reason: 'memory', by: 'eve', at: 1 } });
  const at = { node: cordoned, workloads: [] };

  it('is void where its node was uncordoned, or has work, and stands where neither is so', () => {
    expect(overtaken(i, order, at)).toBeUndefined();
    const uncordoned = overtaken(i, order, { ...at, node: aNode('n-1') });
    expect(uncordoned?.order).toMatchObject({ done: true, ok: false, detail: expect.stringContaining('cordon') });
    expect(overtaken(i, order, { ...at, workloads: ['db'] })?.order?.detail).toContain('db');
  });

  it('stands once its command was given, where it is another one, and where it switches on', () => {
    const gone = { ...at, workloads: ['db'] };
    const given = { ...off, n: 2, verb: 'soft' as const };
    expect(overtaken({ ...i, commands: [given] }, order, gone)).toBeUndefined();
    expect(overtaken({ ...i, commands: [{ ...given, n: 1 }] }, order, gone)).toBeDefined();
    expect(overtaken(i, { ...order, at: 4 }, gone)).toBeUndefined();
    const on = { ...order, action: 'on' as const };
    expect(overtaken({ ...i, order: on }, on, gone)).toBeUndefined();
    const done = { ...order, done: true, ok: true };
    expect(overtaken({ ...i, order: done }, done, gone)).toBeUndefined();
  });
});
