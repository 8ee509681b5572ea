import { describe, expect, it } from 'vitest';
import { identityBasis } from '#contracts';
import { ageMs } from '../../snapshot/ages.js';
import type { PeriodicRead } from '../../snapshot/periodic-reads.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { PeriodicReadsWorld } from '../../testing/periodic-reads-world.js';
import { fleetSource } from '../../testing/planned.js';
import { aDevice, aNode } from '../../testing/records.js';
import { periodicReads } from './periodic-reads.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const seen = { guid: '00112233445566778899aabbccddee01' };
const basis = identityBasis(aDevice());
const proven = { bmc: { result: 'proven' as const, by: 'guid' as const, at: 1, seen, basis } };
const mismatch = { bmc: { result: 'mismatch' as const, at: 1, basis } };
const moved = [[{ ...aDevice(), address: '10.9.9.9' }]];

describe('power devices in good days', () => {
  it('are read at once where nothing is known, and again after six hours', async () => {
    const w = new PeriodicReadsWorld();
    expect([await w.look(1), await w.look(1000), await w.look(6 * HOUR)]).toEqual([1, 1, 2]);
  });

  it('are read again as soon as a record says another device, or another machine, and not for any other change', async () => {
    const w = new PeriodicReadsWorld();
    await w.look(1);
    w.change('n-1', { status: 'Maintenance' });
    expect(await w.look(1000)).toBe(1);
    w.change('n-1', { powerLevels: moved });
    expect(await w.look(1000)).toBe(2);
    w.change('n-1', { hardware: { systemUuid: '1', at: 1 } });
    expect(await w.look(1000)).toBe(3);
    w.change('n-1', { powerLevels: [] });
    expect(await w.look(6 * HOUR)).toBe(3);
  });

  it('are read again where an edit is taken back before anybody has read what it was about', async () => {
    const w = new PeriodicReadsWorld();
    w.says = undefined;
    await w.look(1);
    for (const name of ['n-2', 'n-3', 'n-4', 'n-5']) w.change(name, {});
    w.waits = true;
    expect(await w.look(1000)).toBe(5);
    w.change('n-1', { powerLevels: moved });
    expect(await w.look(1000)).toBe(5);
    w.change('n-1', { powerLevels: [[aDevice()]] });
    await w.answer();
    expect(await w.look(1000)).toBe(6);
    expect(w.read.at(-1)).toBe('n-1');
  });

  it('of which it is known whose they are have their turn, after the share of the period that was drawn', async () => {
    const w = new PeriodicReadsWorld({ powerIdentity: proven });
    expect([await w.look(1), await w.look(3 * HOUR - 1), await w.look(1)]).toEqual([0, 0, 1]);
    const changed = new PeriodicReadsWorld({ powerIdentity: proven });
    await changed.look(1);
    changed.change('n-1', { hardware: { systemUuid: '1', at: 1 } });
    expect(await changed.look(1000)).toBe(1);
    const foundOut = new PeriodicReadsWorld({ powerIdentity: {} });
    foundOut.says = undefined;
    await foundOut.look(1);
    foundOut.change('n-1', { powerIdentity: proven });
    expect([await foundOut.look(MINUTE - 1), await foundOut.look(1)]).toEqual([1, 2]);
  });

  it('keep their turn through a gap in the nodes, in which nobody is asked', async () => {
    const w = new PeriodicReadsWorld({ powerIdentity: proven });
    await w.look(1);
    const was = w.store.nodes.content['n-1'];
    w.change('n-1', undefined);
    w.change('n-2', {});
    w.store.nodes.live = false;
    expect(await w.look(1000)).toBe(0);
    w.change('n-1', was);
    w.change('n-2', undefined);
    w.store.nodes.live = true;
    expect([await w.look(1000), await w.look(3 * HOUR - 2000)]).toEqual([0, 1]);
  });

  it('are read each minute from when they are found to be another machine’s', async () => {
    const w = new PeriodicReadsWorld();
    w.says = { seen };
    await w.look(1);
    w.change('n-1', { powerIdentity: mismatch });
    expect([await w.look(59_000), await w.look(1_000), await w.look(MINUTE)]).toEqual([1, 2, 3]);
    // Somebody has found since that it is its own: that is looked at once more.
    await w.look(1_000);
    w.change('n-1', { powerIdentity: proven });
    expect([await w.look(58_000), await w.look(1_000), await w.look(MINUTE)]).toEqual([3, 4, 4]);
  });

  it('are read a minute later where their turn has not come, and one is another machine’s', async () => {
    const w = new PeriodicReadsWorld({ powerIdentity: mismatch });
    expect([await w.look(1), await w.look(59_999), await w.look(1)]).toEqual([0, 0, 1]);
  });

  it.each<[string, PeriodicReadsWorld['says']]>([
    ['says nothing of itself', { seen: {} }],
    ['refuses to say who it is', { code: 'BMC_REFUSED' }],
    ['does not answer', { code: 'BMC_TIMEOUT' }],
  ])(
    'are asked each minute while one that was proven %s, and from the second time on it is written down',
    async (_what, says) => {
      const w = new PeriodicReadsWorld({ powerIdentity: proven });
      w.says = says;
      await w.look(6 * HOUR);
      await w.look(6 * HOUR);
      expect(w.marks).toEqual([false]);
      expect([await w.look(59_000), await w.look(1_000), await w.look(MINUTE)]).toEqual([1, 2, 3]);
      expect(w.marks).toEqual([false, true, true]);
      // That nobody is there to ask it changes nothing of that.
      w.says = undefined;
      await w.look(MINUTE);
      w.says = { seen };
      expect([await w.look(MINUTE), await w.look(MINUTE), await w.look(6 * HOUR)]).toEqual([5, 5, 6]);
      expect(w.marks.slice(3)).toEqual([true, true, false]);
    },
  );

  it('are asked again a minute after an answer that lacks one of them, and after none', async () => {
    const w = new PeriodicReadsWorld();
    w.waits = true;
    w.says = { code: 'NODE_BUSY' };
    await w.look(1);
    for (const says of [undefined, { seen }]) {
      w.store.clock.now += 14_000;
      await w.answer();
      w.says = says;
      const begun = w.read.length;
      expect([await w.look(59_999), await w.look(1)]).toEqual([begun, begun + 1]);
    }
    await w.answer();
    expect(await w.look(6 * HOUR - 1)).toBe(3);
  });

  it('are asked again a minute after a read has failed in which one was another machine’s for a while', async () => {
    const w = new PeriodicReadsWorld();
    w.waits = true;
    w.says = { code: 'NODE_BUSY' };
    await w.look(1);
    for (const powerIdentity of [mismatch, proven]) {
      w.change('n-1', { powerIdentity });
      await w.look(1000);
    }
    w.store.clock.now += 5000;
    await w.answer();
    expect([await w.look(59_999), await w.look(1)]).toEqual([1, 2]);
  });

  it('are read where what was asked for last is another place', () => {
    const store = new MemoryStore();
    const node = aNode('n-1', { powerIdentity: proven });
    store.nodes.set('n-1', node);
    const planned = (about: string): number => {
      const last: PeriodicRead = { id: 1, about, begunAgo: ageMs(1), failedAgo: undefined, isUnread: false };
      const schedule = { of: () => last, underWay: () => 0, shareOf: () => 1 };
      const ages = { of: (condition: string) => ageMs(condition.startsWith('in-turn') ? 0 : MINUTE) };
      return periodicReads.plan({ ...fleetSource(store).now(), periodicReads: schedule }, ages).length;
    };
    expect(planned(JSON.stringify([[basis], null]))).toBe(0);
    expect(planned(JSON.stringify([['as it was before an edit'], null]))).toBe(1);
  });

  it('are asked again a minute after an answer that is about them as they were before an edit', async () => {
    const w = new PeriodicReadsWorld();
    w.says = { seen };
    await w.look(1);
    w.stale = [aDevice()];
    w.change('n-1', { powerLevels: moved });
    expect([await w.look(1000), await w.look(59_999)]).toEqual([2, 2]);
    w.stale = undefined;
    expect([await w.look(1), await w.look(6 * HOUR - 1), await w.look(1)]).toEqual([3, 3, 4]);
  });

  it('leave open what was not said before where an answer is about them as they were', async () => {
    const w = new PeriodicReadsWorld({ powerIdentity: proven });
    w.stale = [{ ...aDevice(), address: '10.9.9.9' }];
    await w.look(1);
    await w.look(6 * HOUR);
    w.stale = undefined;
    expect([await w.look(MINUTE), await w.look(MINUTE)]).toEqual([2, 3]);
    w.stale = [{ ...aDevice(), address: '10.9.9.9' }];
    w.says = { seen };
    await w.look(MINUTE);
    await w.look(MINUTE);
    expect(w.marks).toEqual([false, false, true, true, true]);
  });

  it('are judged by what was known when they were asked', async () => {
    const w = new PeriodicReadsWorld();
    w.waits = true;
    await w.look(1);
    w.change('n-1', { powerIdentity: proven });
    await w.look(1_000);
    await w.answer();
    expect([await w.look(MINUTE), await w.look(6 * HOUR)]).toEqual([1, 2]);
  });

  it('are read of four nodes at once, and of the next as soon as one has answered', async () => {
    const w = new PeriodicReadsWorld();
    for (const n of [2, 3, 4, 5, 6]) w.change(`n-${n}`, {});
    w.waits = true;
    expect([await w.look(1), await w.look(1000)]).toEqual([4, 4]);
    await w.answer();
    expect([await w.look(1000), await w.look(1000)]).toEqual([5, 5]);
    expect(w.read).toEqual(['n-1', 'n-2', 'n-3', 'n-4', 'n-5']);
  });

  it('are read where a record beside them is odd, and that one fails alone', async () => {
    const w = new PeriodicReadsWorld();
    w.change('n-0', { powerLevels: [[null as never]] });
    expect(await w.look(1)).toBe(1);
    expect(w.read).toEqual(['n-1']);
    expect(w.failed).toEqual([expect.objectContaining({ node: 'n-0' })]);
  });

  it('are not gone through again while the record is the same', async () => {
    let asked = 0;
    const node = Object.defineProperty(aNode('n-1'), 'hardware', { enumerable: true, get: () => void (asked += 1) });
    const w = new PeriodicReadsWorld();
    w.store.nodes.set('n-1', node);
    for (let n = 0; n < 5; n++) await w.look(1000);
    expect(asked).toBe(1);
  });
});
