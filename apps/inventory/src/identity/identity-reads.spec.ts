import { expect, it } from 'vitest';
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
