import { beforeAll, describe, expect, it } from 'vitest';
import {
  identityBasis,
  MusterError,
  type DeviceFacts,
  type ErrorCode,
  type NodeRecord,
  type PowerDevice,
} from '#contracts';
import type { ServiceContext } from '#service';
import type { NodeService } from '../nodes/node.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aDevice, aNode } from '../testing/records.js';
import { identityAlarms } from './identity-alarms.js';
import { IdentityReads } from './identity-reads.js';

it('are waited for until what they found is shown, so that nothing is decided by what was known before', async () => {
  const REVISION = 7;
  let asked: (revision: number) => void = () => undefined;
  let show: (shown: boolean) => void = () => undefined;
  const waitsFor = new Promise<number>((resolve) => (asked = resolve));
  const view = {
    entries: () => [],
    shows: (revision: number) => {
      asked(revision);
      return new Promise<boolean>((resolve) => (show = resolve));
    },
  };
  const devices = [{ id: 'bmc', basis: identityBasis(aDevice()), seen: { guid: 'g' } }];
  const bus = { call: () => Promise.resolve({ devices }) };
  const sut = new IdentityReads(
    { clock: { monotonicMs: () => 0, wallMs: () => 0 }, bus } as unknown as ServiceContext,
    { nodes: { view } } as unknown as InventoryStore,
    { change: () => Promise.resolve({ revision: REVISION }) } as unknown as NodeService,
  );
  const settled = new Promise<string>((resolve) =>
    sut.begin([aNode('n-1', { powerLevels: [[aDevice()]] })], () => resolve('settled')),
  );
  expect(await Promise.race([waitsFor, settled])).toBe(REVISION);
  expect(sut.reads().get('n-1')).toBe('pending');
  show(true);
  await settled;
  expect(sut.reads().get('n-1')).toBe('answered');
});

/** Reads, of which some come to an end, and a clock by hand. */
function clockAndFencers() {
  let now = 0;
  const calls: { node: string; answer: (about?: PowerDevice) => void; fail: (code: ErrorCode) => void }[] = [];
  const call = (_verb: string, { node }: { node: string }): Promise<unknown> =>
    new Promise((resolve, reject) =>
      calls.push({
        node,
        answer: (about = aDevice()) =>
          resolve({ devices: [{ id: about.id, basis: identityBasis(about), code: 'BMC_REFUSED' }] }),
        fail: (code) => reject(new MusterError(code, 'no answer')),
      }),
    );
  const log = { debug: () => undefined };
  const sut = new IdentityReads(
    { clock: { monotonicMs: () => now, wallMs: () => now }, bus: { call }, log } as unknown as ServiceContext,
    {} as InventoryStore,
    {} as NodeService,
  );
  return { sut, calls, at: (ms: number) => (now = ms), settled: () => new Promise((resolve) => setImmediate(resolve)) };
}

/** Of one node. */
function byHand(devices = [aDevice()]) {
  const { sut, calls, at, settled } = clockAndFencers();
  let node = aNode('n-1', { powerLevels: devices.length > 0 ? [devices] : [] });
  return {
    calls,
    settled,
    edit: (device: PowerDevice) => (node = { ...node, powerLevels: [[device]] }),
    pending: () => sut.reads().get('n-1') === 'pending',
    unanswered: () => (sut.reads().get('n-1') ?? 'answered') !== 'answered',
    /** As each look at a silent node does. */
    lookAt: (ms: number) => {
      at(ms);
      sut.begin([node]);
      return calls.length;
    },
  };
}

it('are begun again where an answer is lost, and are unanswered until a fencer answers', async () => {
  const h = byHand();
  expect([h.lookAt(0), h.lookAt(1_900), h.pending(), h.unanswered()]).toEqual([1, 1, true, true]);
  expect([h.lookAt(2_000), h.lookAt(6_900), h.pending(), h.unanswered()]).toEqual([2, 2, false, true]);
  expect([h.lookAt(7_000), h.lookAt(11_900), h.unanswered()]).toEqual([3, 3, true]);
  h.calls[2]?.answer();
  await h.settled();
  expect([h.unanswered(), h.lookAt(21_900), h.lookAt(22_000), h.unanswered()]).toEqual([false, 3, 4, true]);
});

it('are over with the first answer, whichever read it is of', async () => {
  const h = byHand();
  h.lookAt(0);
  h.lookAt(2_000);
  h.calls[0]?.answer();
  await h.settled();
  expect([h.pending(), h.unanswered(), h.lookAt(4_000)]).toEqual([false, false, 2]);
});

it('say nothing of a device that was edited since: it is asked at once, and is unanswered until it has been', async () => {
  const h = byHand();
  const moved = { ...aDevice(), address: '192.0.2.99' };
  h.lookAt(0);
  h.calls[0]?.answer();
  await h.settled();
  h.edit(moved);
  expect([h.lookAt(1_000), h.pending()]).toEqual([2, true]);
  // Its fencer had read the record before the edit.
  h.calls[1]?.answer();
  await h.settled();
  expect([h.unanswered(), h.lookAt(3_000)]).toEqual([true, 3]);
  h.calls[2]?.answer(moved);
  await h.settled();
  expect([h.unanswered(), h.lookAt(4_000)]).toEqual([false, 3]);
});

it.each([
  ['TIMEOUT', true],
  ['NO_RESPONDER', true],
  ['BUS_UNAVAILABLE', true],
  // A fencer has said so.
  ['BAD_REQUEST', false],
] as const)('are not waited for where none is under way, and after %s unanswered: %s', async (code, unanswered) => {
  const h = byHand();
  h.lookAt(0);
  h.calls[0]?.fail(code);
  await h.settled();
  expect([h.pending(), h.unanswered()]).toEqual([false, unanswered]);
});

it('are no matter of a node without a device', () => {
  const h = byHand([]);
  expect([h.lookAt(0), h.pending(), h.unanswered()]).toEqual([0, false, false]);
});

describe('while no fencer answers about a thousand silent nodes', () => {
  const SILENT_MS = 125_000;
  const LATE_AT = 100_000;
  const LOOK_MS = 1_000;
  const nodes = Array.from({ length: 1_000 }, (_, i) => aNode(`n-${i}`, { powerLevels: [[aDevice()]] }));
  const late = aNode('late', { powerLevels: [[aDevice()]] });
  /** When each was asked, ms. */
  const asked = new Map<string, number[]>();
  /** Nodes that counted as answered at a look. */
  let answered = 0;

  beforeAll(async () => {
    const h = clockAndFencers();
    for (let ms = 0; ms <= SILENT_MS; ms += LOOK_MS) {
      h.at(ms);
      const silent = ms < LATE_AT ? nodes : [...nodes, late];
      h.sut.begin(silent);
      h.sut.forgetOld();
      for (const { node, fail } of h.calls.splice(0)) {
        asked.set(node, [...(asked.get(node) ?? []), ms]);
        fail('NO_RESPONDER');
      }
      await h.settled();
      const reads = h.sut.reads();
      answered += silent.filter(({ name }) => (reads.get(name) ?? 'answered') === 'answered').length;
    }
  });

  it('are begun again at a pace that all share', () => {
    const again = [...asked.values()].flatMap((times) => times.slice(1));
    const bySecond = new Map<number, number>();
    for (const ms of again) bySecond.set(ms, (bySecond.get(ms) ?? 0) + 1);
    expect(Math.max(...bySecond.values())).toBe(20);
  });

  it('are begun of each in its turn', () => {
    const gaps = nodes.map(({ name }) => {
      const times = asked.get(name) ?? [];
      return times.slice(1).map((ms, i) => ms - (times[i] ?? 0));
    });
    expect(Math.min(...gaps.map((g) => g.length))).toBeGreaterThanOrEqual(2);
    expect(Math.max(...gaps.flat())).toBeLessThan(60_000);
  });

  it('are begun of one that falls silent then as if it were alone', () => {
    expect(asked.get('late')?.map((ms) => ms - LATE_AT)).toEqual([0, 2_000, 7_000, 12_000, 17_000, 22_000]);
  });

  it('leave each unanswered, however long its turn takes to come', () => {
    expect(answered).toBe(0);
  });
});

it('are told on for 15 s, counted from when the device was asked, and only what it said', async () => {
  let now = 1_000;
  const devices: { id: string; basis: string; seen?: { guid: string }; code?: string }[] = [
    { id: 'bmc', basis: 'b', seen: { guid: 'g' } },
    { id: 'pdu', basis: 'p', code: 'BMC_TIMEOUT' },
  ];
  const call = (): Promise<unknown> => {
    now += 400;
    return Promise.resolve({ devices });
  };
  const sut = new IdentityReads(
    { clock: { monotonicMs: () => now, wallMs: () => now }, bus: { call } } as unknown as ServiceContext,
    { nodes: { view: { entries: () => [], shows: () => Promise.resolve(true) } } } as unknown as InventoryStore,
    { change: () => Promise.resolve({ revision: 1 }) } as unknown as NodeService,
  );
  expect(sut.recent('n-1')).toBeUndefined();
  await sut.read('n-1');
  expect(sut.recent('n-1')).toEqual({ ageMs: 400, devices: [{ id: 'bmc', basis: 'b', seen: { guid: 'g' } }] });
  expect(sut.recent('n-2')).toBeUndefined();
  now = 16_000;
  expect(sut.recent('n-1')?.ageMs).toBe(15_000);
  now = 16_001;
  expect(sut.recent('n-1')).toBeUndefined();
});

describe('a device that was proven and says no more who it is', () => {
  const seen = { guid: '00112233445566778899aabbccddee01' };
  const basis = identityBasis(aDevice());
  type Answer = { seen?: DeviceFacts; code?: ErrorCode; detail?: string };

  /** A node in a record, and what its device says when it is asked. */
  function world(o: Partial<NodeRecord> = {}) {
    let answer: Answer = { seen };
    let writes = 0;
    let node = aNode('n-1', {
      powerLevels: [[aDevice()]],
      powerIdentity: { bmc: { result: 'proven', by: 'guid', at: 1, seen, basis } },
      hardware: { bmcGuid: seen.guid, at: 1 },
      ...o,
    });
    const view = { entries: () => [], shows: () => Promise.resolve(true) };
    const change = (_name: string, fn: (n: NodeRecord) => NodeRecord | undefined) => {
      const next = fn(node);
      if (next !== undefined) [node, writes] = [next, writes + 1];
      return Promise.resolve({ revision: 1 });
    };
    const call = () => Promise.resolve({ devices: [{ id: 'bmc', basis, ...answer }] });
    const sut = new IdentityReads(
      { clock: { monotonicMs: () => 0, wallMs: () => 5 }, bus: { call } } as unknown as ServiceContext,
      { nodes: { view } } as unknown as InventoryStore,
      { change } as unknown as NodeService,
    );
    return {
      read: async (says: Answer, o: { quick?: boolean; marks?: boolean }) => {
        answer = says;
        await sut.read('n-1', o);
        return { unread: node.powerIdentity?.['bmc']?.unread, writes };
      },
      node: () => node,
      alarms: () => identityAlarms([node], () => undefined).map((a) => `${a.code} ${a.severity}: ${a.message}`),
    };
  }

  it.each<[string, Answer, string]>([
    ['answers with nothing', { seen: {} }, 'it says nothing that can be compared'],
    ['answers with a filler', { seen: { guid: '0'.repeat(32) } }, 'it says nothing that can be compared'],
    ['refuses', { code: 'BMC_REFUSED', detail: 'Invalid command' }, 'BMC_REFUSED: Invalid command'],
  ])('has an alarm where it %s, once that is written down, until it says so again', async (_what, says, why) => {
    const w = world();
    expect(await w.read(says, { marks: false })).toMatchObject({ unread: undefined, writes: 0 });
    expect(w.alarms()).toEqual([]);
    expect(await w.read(says, { marks: true })).toEqual({ unread: { at: 5, why }, writes: 1 });
    expect(w.alarms()).toEqual([
      expect.stringMatching(
        /^power-identity-unread warning: .*bmc.*muster node power-device test n-1.*power-device set n-1 bmc --username.*muster node drill n-1/,
      ),
    ]);
    // Nothing is new, and who does not write it down leaves it as it is.
    expect((await w.read(says, { marks: true })).writes).toBe(1);
    expect(await w.read(says, { quick: true })).toMatchObject({ unread: { at: 5 }, writes: 1 });
    expect(w.node().powerIdentity?.['bmc']).toMatchObject({ result: 'proven', seen });
    expect(await w.read({ seen }, { quick: true })).toEqual({ unread: undefined, writes: 2 });
    expect(w.alarms()).toEqual([]);
  });

  it.each<[string, Answer, Partial<NodeRecord>]>([
    ['nobody asked it', { code: 'NODE_BUSY' }, {}],
    ['no fencer has its driver', { code: 'DRIVER_UNAVAILABLE' }, {}],
    ['it was never proven', { seen: {} }, { powerIdentity: { bmc: { result: 'unproven', at: 1, basis } } }],
    [
      'it was drilled and never said anything',
      { seen: {} },
      { powerIdentity: { bmc: { result: 'proven', by: 'drill', at: 1, basis } } },
    ],
    ['nothing is known of it', { code: 'BMC_REFUSED' }, { powerIdentity: {} }],
  ])('is not one of which %s', async (_what, says, o) => {
    const w = world(o);
    expect((await w.read(says, { marks: true })).unread).toBeUndefined();
    expect(w.alarms()).toEqual([]);
  });

  it('has no alarm of its own while its node is silent: the incident says it then', async () => {
    const w = world({ state: 'Disappeared' });
    expect((await w.read({ seen: {} }, { marks: true })).unread).toBeDefined();
    expect(w.alarms()).toEqual([]);
  });
});
