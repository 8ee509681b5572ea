import { expect, it } from 'vitest';
import { MusterError } from '#contracts';
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
    sut.begin(aNode('n-1', { powerLevels: [[aDevice()]] }), () => resolve('settled')),
  );
  expect(await Promise.race([waitsFor, settled])).toBe(REVISION);
  expect(sut.pending('n-1')).toBe(true);
  show(true);
  await settled;
  expect(sut.pending('n-1')).toBe(false);
});

/** Reads of one node, of which some come to an end, and a clock by hand. */
function byHand() {
  let now = 0;
  const calls: { answer: () => void; fail: (code: 'TIMEOUT' | 'BUS_UNAVAILABLE') => void }[] = [];
  const call = (): Promise<unknown> =>
    new Promise((resolve, reject) =>
      calls.push({
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
  const node = aNode('n-1', { powerLevels: [[aDevice()]] });
  return {
    calls,
    pending: () => sut.pending('n-1'),
    /** As each look at a silent node does. */
    lookAt: (ms: number) => {
      now = ms;
      sut.begin(node);
      return calls.length;
    },
    settled: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

it('are begun again where an answer is lost, and waited for once more; then the last comparison counts', async () => {
  const h = byHand();
  expect([h.lookAt(0), h.lookAt(1_900), h.pending()]).toEqual([1, 1, true]);
  expect([h.lookAt(2_000), h.lookAt(3_900), h.pending()]).toEqual([2, 2, true]);
  expect([h.lookAt(4_100), h.pending()]).toEqual([2, false]);
  // A device that does not answer is asked no more often than one that does.
  expect([h.lookAt(16_900), h.lookAt(17_000)]).toEqual([2, 3]);
  h.calls[1]?.answer();
  await h.settled();
  expect([h.pending(), h.lookAt(31_900), h.lookAt(32_000)]).toEqual([false, 3, 4]);
});

it('are over with the first answer, whichever read it is of', async () => {
  const h = byHand();
  h.lookAt(0);
  h.lookAt(2_000);
  h.calls[0]?.answer();
  await h.settled();
  expect([h.pending(), h.lookAt(4_000)]).toEqual([false, 2]);
});

it('are not waited for where none is under way', async () => {
  const h = byHand();
  h.lookAt(0);
  h.calls[0]?.fail('BUS_UNAVAILABLE');
  await h.settled();
  expect([h.pending(), h.lookAt(1_000), h.lookAt(2_000), h.pending()]).toEqual([false, 1, 2, true]);
});
