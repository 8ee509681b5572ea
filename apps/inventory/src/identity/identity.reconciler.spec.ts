import { describe, expect, it } from 'vitest';
import { identityBasis, type DeviceFacts, type ErrorCode, type NodeRecord } from '#contracts';
import type { InventoryStore } from '../store/inventory-store.js';
import { playRun } from '../testing/play-run.js';
import { aDevice, aNode } from '../testing/records.js';
import { IdentityReconciler } from './identity.reconciler.js';
import type { IdentityReads } from './identity-reads.js';

/** A store of one node, and which nodes are read. */
class World {
  readonly read: string[] = [];
  /** Whether what is not said is written down, of each read. */
  readonly marks: boolean[] = [];
  /** What the device says. */
  says: { seen?: DeviceFacts; code?: ErrorCode } = { seen: {} };
  /** Comes before what the device says. */
  meanwhile: (() => Promise<unknown>) | undefined;
  now = 0;
  node: NodeRecord;
  readonly sut: IdentityReconciler;

  constructor(node: NodeRecord) {
    this.node = node;
    const entries = () => [{ key: this.node.name, value: this.node, revision: 1 }];
    const store = {
      nodes: { view: { live: true, entries } },
      alarms: { view: { live: false } },
      random: { number: () => 1 },
      clock: { monotonicMs: () => this.now },
    } as unknown as InventoryStore;
    const read = async (name: string, { marks }: { marks: boolean }) => {
      this.read.push(name);
      this.marks.push(marks);
      await this.meanwhile?.();
      return [{ id: 'bmc', ...this.says }];
    };
    const reads = { read } as unknown as IdentityReads;
    this.sut = new IdentityReconciler(store, reads);
  }

  async look(ms: number): Promise<number> {
    this.now += ms;
    await playRun(this.sut, { now: this.now });
    return this.read.length;
  }
}

const HOUR = 3_600_000;
const mismatch = { bmc: { result: 'mismatch' as const, at: 1, basis: identityBasis(aDevice()) } };

describe('power devices in good days', () => {
  it('are read at once where nothing is known, and again after six hours', async () => {
    const w = new World(aNode('n-1', { powerLevels: [[aDevice()]] }));
    expect([await w.look(1), await w.look(1000), await w.look(6 * HOUR)]).toEqual([1, 1, 2]);
  });

  it('are read again as soon as a record says another device, or another machine, and not for any other change', async () => {
    const w = new World(aNode('n-1', { powerLevels: [[aDevice()]] }));
    await w.look(1);
    w.node = { ...w.node, status: 'Maintenance' };
    expect(await w.look(1000)).toBe(1);
    w.node = { ...w.node, powerLevels: [[{ ...aDevice(), address: '10.9.9.9' }]] };
    expect(await w.look(1000)).toBe(2);
    w.node = { ...w.node, hardware: { systemUuid: '1', at: 1 } };
    expect(await w.look(1000)).toBe(3);
  });

  it('are read each minute from when they are found to be another machine’s', async () => {
    const w = new World(aNode('n-1', { powerLevels: [[aDevice()]] }));
    await w.look(1);
    w.node = { ...w.node, powerIdentity: mismatch };
    expect([await w.look(59_000), await w.look(1_000), await w.look(60_000)]).toEqual([1, 2, 3]);
  });

  it.each<[string, World['says']]>([
    ['says nothing of itself', { seen: {} }],
    ['refuses to say who it is', { code: 'BMC_REFUSED' }],
    ['does not answer', { code: 'BMC_TIMEOUT' }],
  ])(
    'are asked each minute while one that was proven %s, and from the second time on it is written down',
    async (_what, says) => {
      const seen = { guid: '00112233445566778899aabbccddee01' };
      const basis = identityBasis(aDevice());
      const powerIdentity = { bmc: { result: 'proven' as const, by: 'guid' as const, at: 1, seen, basis } };
      const w = new World(aNode('n-1', { powerLevels: [[aDevice()]], powerIdentity }));
      w.says = says;
      await w.look(6 * HOUR);
      await w.look(6 * HOUR);
      expect(w.marks).toEqual([false]);
      expect([await w.look(59_000), await w.look(1_000), await w.look(60_000)]).toEqual([1, 2, 3]);
      expect(w.marks).toEqual([false, true, true]);
      w.says = { seen };
      expect([await w.look(60_000), await w.look(60_000), await w.look(6 * HOUR)]).toEqual([4, 4, 5]);
      expect(w.marks.slice(3)).toEqual([true, false]);
    },
  );

  it('are judged by what was known when they were asked', async () => {
    const seen = { guid: '00112233445566778899aabbccddee01' };
    const basis = identityBasis(aDevice());
    const proven = { bmc: { result: 'proven' as const, by: 'guid' as const, at: 1, seen, basis } };
    const w = new World(aNode('n-1', { powerLevels: [[aDevice()]] }));
    const answered = new Promise<void>((resolve) => {
      w.meanwhile = async () => {
        w.meanwhile = undefined;
        w.node = { ...w.node, powerIdentity: proven };
        await w.look(1_000);
        setImmediate(resolve);
      };
    });
    await w.look(1);
    await answered;
    expect([await w.look(60_000), await w.look(6 * HOUR)]).toEqual([1, 2]);
  });

  it('are not gone through again while the record is the same', async () => {
    let asked = 0;
    const node = Object.defineProperty(aNode('n-1', { powerLevels: [[aDevice()]] }), 'hardware', {
      enumerable: true,
      get: () => void (asked += 1),
    });
    const w = new World(node);
    for (let n = 0; n < 5; n++) await w.look(1000);
    expect(asked).toBe(1);
    w.node = { ...node };
    await w.look(1000);
    expect(asked).toBe(2);
  });
});
