import { describe, expect, it } from 'vitest';
import { systemClock, type Bus, type Lease } from '#bus';
import {
  devicesMark,
  identityBasis,
  POWER_QUARANTINE_MS,
  type Clock,
  type FencingSettings,
  type FreshIdentity,
  type IncidentRecord,
  type NodeRecord,
  type PowerDevice,
  type PowerOrder,
  type PowerVerb,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { IDENTITY_FRESH_MS } from '#domain/power/whose-device.js';
import type { DeviceIdentity } from '../drivers/power-driver.js';
import { BmcQueue, Urgency } from '../power/bmc-queue.js';
import { NodeFencer, type NodeFencerParts } from './node-fencer.js';

const device = (address: string): PowerDevice => ({ id: 'bmc', driver: 'ipmitool', address });
const before = [[device('10.2.0.1')]];
const after = [[device('10.2.0.2')]];

const GUID = '00112233445566778899aabbccddee01';
const OTHER = '00112233445566778899aabbccddee02';
const proven: Partial<NodeRecord> = {
  powerIdentity: {
    bmc: { result: 'proven', by: 'guid', at: 1, seen: { guid: GUID }, basis: identityBasis(device('10.2.0.1')) },
  },
};

const PAUSED = { by: 'eve', reason: 'work on the rack', at: 1 };

interface World {
  /** The devices are edited as this intent is stored. */
  editedAt?: PowerVerb;
  /** What becomes of the node's record as the intent of the off is stored. Undefined: it goes. */
  becomes?: (node: NodeRecord) => NodeRecord | undefined;
  /** Of the node. */
  known?: Partial<NodeRecord>;
  /** What the device says of itself when it is asked for the nth time. */
  says?: (n: number) => DeviceIdentity;
  /** What inventory answers to the recheck besides. */
  handed?: FreshIdentity;
  /** Of the incident as it is read then, where that is another than it was. */
  phase?: () => IncidentRecord['phase'] | undefined;
  /** What its devices denied before. */
  denied?: IncidentRecord['denied'];
  /** An operator's order, in a record that is closed. @default its incident is in phase fencing */
  order?: PowerOrder['action'];
  /** The system is to power the node on, which is fenced. */
  powerOn?: true;
  /** An operator pauses fencing as the intent is stored. */
  pauses?: true;
  /** The token that has written its incident last. @default none has */
  writtenBy?: number;
  /** So much time passes while the first `off` waits for its turn at the BMC, or its intent is stored, ms. */
  turnMs?: number;
  intentMs?: number;
}

/** Fences one node, or carries out an order to its power, over records in memory. */
async function fence(w: World = {}): Promise<{ sent: string[]; raised: number[]; incident: IncidentRecord }> {
  const { editedAt } = w;
  const sent: string[] = [];
  const raised: number[] = [];
  let aheadMs = 0;
  let asked = 0;
  const clock: Clock = {
    wallMs: () => systemClock.wallMs(),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    monotonicNs: () => systemClock.monotonicNs() + BigInt(aheadMs) * 1_000_000n,
    sleep: (ms) => systemClock.sleep(ms),
    after: (...x) => systemClock.after(...x),
    every: (...x) => systemClock.every(...x),
    soon: (...x) => systemClock.soon(...x),
  };
  let [turnMs, intentMs] = [w.turnMs ?? 0, w.intentMs ?? 0];
  class BusyQueue extends BmcQueue {
    override async turn(...[bmc, urgency, signal]: Parameters<BmcQueue['turn']>) {
      const turn = await super.turn(bmc, urgency, signal);
      if (urgency === Urgency.off) [aheadMs, turnMs] = [aheadMs + turnMs, 0];
      return turn;
    }
  }
  let incident: IncidentRecord = {
    ...{ id: 'i-1', node: 'n-1', phase: 'fencing', cause: 'auto', reason: 'spec', openedAt: 1, updatedAt: 1 },
    ...{ gates: [], conductor: 1, level: 0, attempt: 0, commands: [], recovery: [], steps: [] },
    devices: devicesMark(before),
    ...(w.denied && { denied: w.denied }),
    ...(w.writtenBy !== undefined && { epoch: w.writtenBy }),
    ...(w.order && { phase: 'closed', order: { action: w.order, by: 'eve', reason: 'spec', at: 1, after: 0 } }),
    ...(w.powerOn && {
      ...{ phase: 'recovered', powerOn: { wanted: true, requestedAt: 1 } },
      proof: { kind: 'already-off', at: 1, level: 0 },
    }),
  };
  let node: NodeRecord | undefined = aNode('n-1', { powerLevels: before, ...w.known });
  let isOff = w.order === 'on' || w.powerOn === true;
  const put = (next: IncidentRecord): Promise<number> => {
    incident = next;
    const last = incident.commands.at(-1);
    const isOrder = last !== undefined && last.verb !== 'status';
    if (isOrder) [aheadMs, intentMs] = [aheadMs + intentMs, 0];
    if (isOrder && w.pauses) settings = { value: { fencing: { mode: 'enforce', paused: PAUSED } }, revision: 2 };
    if (node !== undefined && editedAt !== undefined && last?.verb === editedAt) node = { ...node, powerLevels: after };
    if (node !== undefined && w.becomes !== undefined && isOrder && !last.result) node = w.becomes(node);
    return Promise.resolve(1);
  };
  const incidents = {
    get: () => {
      incident = { ...incident, phase: w.phase?.() ?? incident.phase };
      return Promise.resolve({ value: incident, revision: 1 });
    },
    update: (_key: string, next: IncidentRecord) => put(next),
    mutate: (_key: string, fn: (x: { value: IncidentRecord }) => IncidentRecord | undefined) =>
      put(fn({ value: incident }) ?? incident),
  };
  let settings: { value: { fencing: Pick<FencingSettings, 'mode' | 'paused'> }; revision: number } = {
    ...{ value: { fencing: { mode: 'enforce' } }, revision: 1 },
  };
  const bucket = (name: string): unknown =>
    name === 'incidents'
      ? incidents
      : { get: () => Promise.resolve(name === 'settings' ? settings : node && { value: node, revision: 1 }) };
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const call = (): Promise<unknown> =>
    Promise.resolve({
      ...{ go: true, reason: 'DOWN', revision: 1 },
      ...(w.handed && { identity: w.handed }),
    });
  const power: NodeFencerParts['power'] = {
    run: (d, verb) => {
      sent.push(`${verb} ${d.address}`);
      if (verb !== 'status') isOff = verb !== 'on';
      return Promise.resolve({ ok: true, tookMs: 1, ...(verb === 'status' && { power: isOff ? 'off' : 'on' }) });
    },
    identify: (d) => {
      sent.push(`identify ${d.address}`);
      return Promise.resolve(w.says?.(asked++) ?? { seen: {} });
    },
  };
  const fencer = new NodeFencer('n-1', {
    bus: { clock, log: silent, bucket, call } as unknown as Bus,
    lease: {
      ...{ held: true, token: 1, check: () => 1, validUntil: 2n ** 62n },
      raise: (token: number) => raised.push(token) > 0,
    } as unknown as Lease,
    token: 1,
    power,
    queue: new BusyQueue(),
    drivers: () => ['ipmitool'],
    fencer: 'f',
    quietSince: () => -POWER_QUARANTINE_MS,
    onUntil: () => undefined,
    signal: new AbortController().signal,
  });
  await fencer.run();
  return { sent, raised, incident };
}

it('gives an off to the devices that the order names, reads them twice, and that is the proof', async () => {
  const { sent, incident } = await fence();
  expect(sent).toEqual(['status 10.2.0.1', 'off 10.2.0.1', 'status 10.2.0.1', 'status 10.2.0.1']);
  expect(incident.phase).toBe('fenced');
});

it('gives nothing by a token that is older than the incident’s, and takes its lease anew above that', async () => {
  const { sent, raised, incident } = await fence({ writtenBy: 2 });
  expect([sent, raised]).toEqual([[], [2]]);
  expect(incident).toMatchObject({ phase: 'fencing', epoch: 2, commands: [] });
  expect((await fence({ writtenBy: 1 })).raised).toEqual([]);
});

it('gives no off to devices that were edited as its intent was written, and tells that it did not', async () => {
  const { sent, incident } = await fence({ editedAt: 'off' });
  expect(sent).toEqual(['status 10.2.0.1']);
  expect(incident.phase).toBe('failed');
  const off = incident.commands.find((c) => c.verb === 'off');
  expect(off?.result?.ok).toBe(false);
  expect(off?.result?.detail).toContain('not given');
});

it.each(['on', 'soft'] as const)(
  'gives no order %s to a device that was edited as its intent was written',
  async (order) => {
    const { sent, incident } = await fence({ editedAt: order, order });
    expect(sent).not.toContain(`${order} 10.2.0.1`);
    expect(sent).toContain(`${order} 10.2.0.2`);
    expect(incident.commands.find((c) => c.verb === order)?.result?.detail).toContain(
      'not given: its power devices were edited',
    );
  },
);

describe('what forbids it as its intent is stored', () => {
  const on = 'on 10.2.0.1';
  const cordon = { by: 'eve', reason: 'spare parts', at: 1 };

  it('is a cordon for the system’s power-on, and the record says so', async () => {
    let isCordoned = false;
    const becomes = (n: NodeRecord): NodeRecord => {
      isCordoned = true;
      return { ...n, cordon };
    };
    // Closed then, for the spec to end: the wish is waited with.
    const phase = (): IncidentRecord['phase'] | undefined => (isCordoned ? 'closed' : undefined);
    const { sent, incident } = await fence({ powerOn: true, becomes, phase });
    expect(sent).not.toContain(on);
    expect(incident.commands.find((c) => c.verb === 'on')?.result).toMatchObject({
      ...{ ok: false, code: 'INCIDENT_STATE' },
      detail: expect.stringContaining('It is cordoned by eve'),
    });
  });

  it('is no cordon for an operator’s own order', async () => {
    const { sent } = await fence({ order: 'on', becomes: (n) => ({ ...n, cordon }) });
    expect(sent).toContain(on);
  });

  it.each(['on', 'soft'] as const)('is a pause for an order %s, which ends with that', async (order) => {
    const { sent, incident } = await fence({ order, pauses: true });
    expect(sent).not.toContain(`${order} 10.2.0.1`);
    const given = incident.commands.filter((c) => c.verb === order);
    expect(given.map((c) => c.result?.code)).toEqual(['INCIDENT_STATE']);
    expect(incident.order).toMatchObject({ done: true, ok: false, detail: expect.stringContaining('paused by eve') });
  });

  it('is another boot than the one that a soft is for, and the order ends with that', async () => {
    const { sent, incident } = await fence({ order: 'soft', becomes: (n) => ({ ...n, bootId: 'b-2' }) });
    expect(sent).toEqual([]);
    const given = incident.commands.filter((c) => c.verb === 'soft');
    expect(given.map((c) => c.result?.code)).toEqual(['INCIDENT_STATE']);
    expect(incident.order).toMatchObject({ done: true, ok: false, detail: expect.stringContaining('rebooted') });
  });
});

describe('a device that was proven to be the node’s own', () => {
  const own = (): DeviceIdentity => ({ seen: { guid: GUID } });
  const [read, off, who] = ['status 10.2.0.1', 'off 10.2.0.1', 'identify 10.2.0.1'];
  const basis = identityBasis(device('10.2.0.1'));
  const handed = (ageMs: number, guid = GUID): FreshIdentity => ({
    ageMs,
    devices: [{ id: 'bmc', basis, seen: { guid } }],
  });

  it('is asked who it is before its off, where inventory tells nothing, as an older one does', async () => {
    const { sent, incident } = await fence({ known: proven, says: own });
    expect(sent).toEqual([who, read, off, read, read]);
    expect(incident.phase).toBe('fenced');
  });

  it('is not asked again where inventory has asked it a moment ago, and is where that is too long ago', async () => {
    const told = await fence({ known: proven, says: own, handed: handed(3_000) });
    expect(told.sent).toEqual([read, off, read, read]);
    const old = await fence({ known: proven, says: own, handed: handed(IDENTITY_FRESH_MS + 1) });
    expect(old.sent).toEqual([who, read, off, read, read]);
    expect([told, old].map((x) => x.incident.phase)).toEqual(['fenced', 'fenced']);
  });

  it.each<[string, World]>([
    ['says that it is another one', { says: () => ({ seen: { guid: OTHER } }) }],
    ['was another one when inventory asked it', { says: own, handed: handed(3_000, OTHER) }],
    [
      'is known as another machine’s by now',
      { says: own, known: { powerIdentity: { bmc: { result: 'mismatch', at: 1, basis } } } },
    ],
  ])('is given nothing where it %s', async (_what, w) => {
    const { sent, incident } = await fence({ known: proven, ...w });
    expect(sent).not.toContain(off);
    expect(incident).toMatchObject({ phase: 'failed', commands: [] });
    expect(incident.steps.at(-1)?.detail).toContain('IDENTITY_MISMATCH');
  });

  it('is asked anew where its word has aged while the off waited for its turn at the BMC', async () => {
    const says = (n: number): DeviceIdentity => (n === 0 ? { seen: { guid: GUID } } : { seen: { guid: OTHER } });
    const { sent, incident } = await fence({ known: proven, says, turnMs: IDENTITY_FRESH_MS });
    expect(sent).toEqual([who, read, who]);
    expect(incident).toMatchObject({ phase: 'failed', commands: [{ verb: 'status' }] });
  });

  it('is given nothing where its word has aged while the intent was stored, and the record says so', async () => {
    const says = (n: number): DeviceIdentity => (n === 0 ? { seen: { guid: GUID } } : { seen: { guid: OTHER } });
    const { sent, incident } = await fence({ known: proven, says, intentMs: IDENTITY_FRESH_MS });
    expect(sent).toEqual([who, read, who]);
    expect(incident.phase).toBe('failed');
    expect(incident.commands.find((c) => c.verb === 'off')?.result).toMatchObject({
      ok: false,
      code: 'IDENTITY_UNREAD',
    });
  });

  it.each<[PowerOrder['action'], string[]]>([
    ['on', [who, read, 'on 10.2.0.1', read]],
    ['soft', [who, 'soft 10.2.0.1']],
  ])('is asked who it is before an order %s', async (order, all) => {
    const { sent, incident } = await fence({ known: proven, says: own, order });
    expect(sent).toEqual(all);
    expect(incident).toMatchObject({ phase: 'closed', order: { done: true, ok: true } });
  });

  it.each<[string, World, string]>([
    ['says that it is another one', { says: () => ({ seen: { guid: OTHER } }) }, 'IDENTITY_MISMATCH'],
    [
      'is found to be another machine’s as its intent is stored',
      {
        says: own,
        becomes: (n) => ({
          ...n,
          powerIdentity: { bmc: { result: 'mismatch', at: 2, basis, why: 'it is that of n-2' } },
        }),
      },
      'IDENTITY_MISMATCH',
    ],
  ])('is given no order where it %s, and the order says so', async (_what, w, code) => {
    for (const order of ['on', 'soft'] as const) {
      const { sent, incident } = await fence({ known: proven, order, ...w });
      expect(sent).not.toContain(`${order} 10.2.0.1`);
      expect(incident.order).toMatchObject({ done: true, ok: false, detail: expect.stringContaining(code) });
    }
  });

  it('is given no order where its word has aged while the intent was stored, and the record says so', async () => {
    const says = (n: number): DeviceIdentity => (n === 0 ? { seen: { guid: GUID } } : { seen: { guid: OTHER } });
    for (const order of ['on', 'soft'] as const) {
      const { sent, incident } = await fence({ known: proven, says, order, intentMs: IDENTITY_FRESH_MS });
      expect(sent).not.toContain(`${order} 10.2.0.1`);
      expect(incident.commands.find((c) => c.verb === order)?.result).toMatchObject({
        ok: false,
        code: 'IDENTITY_UNREAD',
      });
      expect(incident.order).toMatchObject({ done: true, ok: false });
    }
  });

  it.each<[string, World['becomes'], string]>([
    [
      'is found to be another machine’s',
      (n) => ({ ...n, powerIdentity: { bmc: { result: 'mismatch', at: 2, basis, why: 'its GUID is of n-2' } } }),
      'IDENTITY_MISMATCH',
    ],
    ['is nobody’s any more, its node being deleted', () => undefined, 'INCIDENT_STATE'],
  ])('is given nothing where it %s as the intent is stored, and the record says why', async (_what, becomes, code) => {
    const { sent, incident } = await fence({ known: proven, says: own, becomes: becomes! });
    expect(sent).not.toContain(off);
    expect(incident.commands.find((c) => c.verb === 'off')?.result).toMatchObject({ ok: false, code });
  });
});

describe('a device that denies it', () => {
  const basis = identityBasis(device('10.2.0.1'));
  const machine: Partial<NodeRecord> = { hardware: { at: 1, bmcGuid: GUID } };
  const refuses = (): DeviceIdentity => ({ code: 'BMC_REFUSED', detail: 'the BMC refused it' });
  const own = (): DeviceIdentity => ({ seen: { guid: GUID } });
  const other = (): DeviceIdentity => ({ seen: { guid: OTHER } });
  const denied = { bmc: { basis, seen: { guid: OTHER }, at: 1 } };
  const [read, off, who] = ['status 10.2.0.1', 'off 10.2.0.1', 'identify 10.2.0.1'];

  it.each([
    ['never proven', machine],
    ['proven', proven],
  ])('is on record as such with its attempt, where it was %s', async (_what, known) => {
    const { sent, incident } = await fence({ known, says: other });
    expect(sent).toEqual([who]);
    expect(incident).toMatchObject({ phase: 'failed', epoch: 1, commands: [] });
    expect(incident.denied).toEqual({ bmc: { basis, seen: { guid: OTHER }, at: expect.any(Number) } });
  });

  it('is on record also where inventory has asked it', async () => {
    const devices = [{ id: 'bmc', basis, seen: { guid: OTHER } }];
    const { incident } = await fence({ known: machine, says: refuses, handed: { ageMs: 100, devices } });
    expect(incident).toMatchObject({ phase: 'failed', denied: { bmc: { seen: { guid: OTHER } } } });
  });

  it('is on record though its incident was cancelled meanwhile', async () => {
    let taken = false;
    const says = (): DeviceIdentity => {
      taken = true;
      return other();
    };
    const { incident } = await fence({ known: machine, says, phase: () => (taken ? 'cancelled' : undefined) });
    expect(incident).toMatchObject({ phase: 'cancelled', denied: { bmc: { basis } } });
  });

  it('gets no off in the next attempt, where it refuses to say who it is, and gets it where it says it is its own', async () => {
    const says = (n: number): DeviceIdentity => (n < 2 ? refuses() : own());
    const { sent, incident } = await fence({ known: machine, denied, says });
    expect(sent).toEqual([who, read, who, who, read, off, read, read]);
    expect(incident.phase).toBe('fenced');
    expect(incident).not.toHaveProperty('denied');
  });

  it('gets no off by what inventory has read of it: it may have denied it since', async () => {
    const devices = [{ id: 'bmc', basis, seen: { guid: GUID } }];
    const { sent } = await fence({ known: machine, denied, says: own, handed: { ageMs: 100, devices } });
    expect(sent.slice(0, 2)).toEqual([who, read]);
  });

  it('gets no order either', async () => {
    const says = (n: number): DeviceIdentity => (n === 0 ? other() : refuses());
    for (const order of ['on', 'soft'] as const) {
      const { sent, incident } = await fence({ known: machine, order, says });
      expect(sent).toEqual([who]);
      expect(incident).toMatchObject({ order: { done: true, ok: false }, denied: { bmc: { basis } } });
    }
  });
});
