import { describe, expect, it } from 'vitest';
import { MusterError, PERMITS_KEY, type Permits } from '#contracts';
import type { PermitDecision } from '#domain/incident/permits.js';
import { FencingWorld } from '../testing/fencing-world.js';
import { aBeacon, aNode, anIncident } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'];
const held = (): void => undefined;

/** Five nodes in as many failure domains, seen by a detector. @param cap how many permits there may be at once */
function world(cap: number) {
  const w = new FencingWorld();
  const { store } = w;
  Object.assign(store.clusterSettings.fencing.storm, { capAtLeast: cap, capShare: 0 });
  for (const name of names) store.nodes.set(name, aNode(name, { failureDomain: `rack-${name}` }));
  for (let seq = 1; seq <= 12; seq += 1) {
    store.clock.now += 1_000;
    store.detector.hear(JSON.stringify(aBeacon({ seq, members: 5, sightedReporters: 5 })));
  }
  return {
    store,
    take: (node: string, check = held): Promise<PermitDecision> =>
      w.permits.acquire(anIncident(node), aNode(node, { failureDomain: `rack-${node}` }), check),
    permits: (): Permits | undefined => store.permits.content[PERMITS_KEY],
    granted: (): string[] => (store.permits.content[PERMITS_KEY]?.granted ?? []).map((g) => g.node),
  };
}

const ofOther = (node: string): Permits => ({ granted: [{ incident: `i-${node}`, node, at: 1 }] });

describe('a permit', () => {
  it('is decided by those in the store, whatever the view shows yet', async () => {
    const { store, take, permits } = world(1);
    store.permits.set(PERMITS_KEY, ofOther('n-5'));
    Object.assign(store.permits.view, { get: () => undefined, entries: () => [] });
    expect(await take('n-1')).toMatchObject({ granted: false, gate: { gate: 'CAP' } });
    expect(permits()).toEqual(ofOther('n-5'));
  });

  it('goes to one of two that ask at once, where one is left', async () => {
    const { take, granted } = world(1);
    const decided = await Promise.all([take('n-1'), take('n-2')]);
    expect(decided.map((d) => d.granted)).toEqual([true, false]);
    expect(granted()).toEqual(['n-1']);
  });

  it('is written beside those of others', async () => {
    const { take, granted } = world(2);
    expect((await Promise.all([take('n-1'), take('n-2')])).map((d) => d.granted)).toEqual([true, true]);
    expect(granted()).toEqual(['n-1', 'n-2']);
  });

  it('is taken by nobody who has lost the lease, be it since the first try', async () => {
    const { store, take, permits } = world(2);
    const lost = new MusterError('LEASE_LOST', 'another conducts');
    const check = (): void => {
      throw lost;
    };
    await expect(take('n-1', check)).rejects.toBe(lost);
    expect(permits()).toBeUndefined();
    let tries = 0;
    const checkLater = (): void => {
      tries += 1;
      if (tries > 1) throw lost;
      store.permits.set(PERMITS_KEY, ofOther('n-5'));
    };
    await expect(take('n-1', checkLater)).rejects.toBe(lost);
    expect(permits()).toEqual(ofOther('n-5'));
  });

  it('is given to nobody through a gap in what it is decided by', async () => {
    const { store, take, permits } = world(2);
    for (const table of [store.nodes, store.incidents, store.permits]) {
      table.live = false;
      expect(await take('n-1')).toMatchObject({ granted: false, gate: { gate: 'BRAKE', pass: false } });
      table.live = true;
    }
    expect(permits()).toBeUndefined();
    expect(await take('n-1')).toMatchObject({ granted: true });
  });
});
