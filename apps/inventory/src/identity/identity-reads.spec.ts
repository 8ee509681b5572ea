import { beforeAll, describe, expect, it } from 'vitest';
import { MusterError, type ErrorCode } from '#contracts';
import type { ServiceContext } from '#service';
import type { NodeService } from '../nodes/node.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aDevice, aNode } from '../testing/records.js';
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
  const devices = [{ id: 'bmc', basis: 'b', seen: { guid: 'g' } }];
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
  const calls: { node: string; answer: () => void; fail: (code: ErrorCode) => void }[] = [];
  const call = (_verb: string, { node }: { node: string }): Promise<unknown> =>
    new Promise((resolve, reject) =>
      calls.push({
        node,
        answer: () => resolve({ devices: [{ id: 'bmc', basis: 'b', code: 'BMC_REFUSED' }] }),
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
  const node = aNode('n-1', { powerLevels: devices.length > 0 ? [devices] : [] });
  return {
    calls,
    settled,
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
