import { describe, expect, it } from 'vitest';
import { DATAGRAM_KEYS_KEY, datagramKeySecret, MusterError, type DatagramKeySet } from '#contracts';
import type { Reconciler } from '../../conductor/task.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aBeacon, aNode, aReport } from '../../testing/records.js';
import { keyExchange } from './key-exchange.js';

const [OLD, NEW, GONE] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'];
const spread: DatagramKeySet = {
  ...{ version: 1, phase: 'spread', keys: [OLD, NEW], by: 'ann', startedAt: 1, changedAt: 1 },
};

/** One node, which says with the detector that it has both keys. */
class World {
  readonly store = new MemoryStore();
  readonly sut: Reconciler;
  private seq = 0;

  constructor(set: DatagramKeySet = spread) {
    const { store } = this;
    store.nodes.set('n-1', aNode('n-1', { enrolled: true }));
    this.write(set);
    this.hear('n-1', [OLD, NEW]);
    store.detector.hear(JSON.stringify(aBeacon({ keys: [OLD, NEW] })));
    this.sut = planExecutor(store).drive(keyExchange);
  }

  write(set: DatagramKeySet): void {
    this.store.settings.set(DATAGRAM_KEYS_KEY, set as never);
  }

  hear(node: string, keys: string[]): void {
    this.store.reports.hear(aReport(node, { seq: (this.seq += 1), keys }), this.store.clock.now);
  }

  get set(): Partial<DatagramKeySet> {
    return this.store.settings.content[DATAGRAM_KEYS_KEY] as Partial<DatagramKeySet>;
  }

  get secrets(): string[] {
    return Object.keys(this.store.secrets.content);
  }

  /** @returns what failed */
  async look(): Promise<unknown[]> {
    const failed: unknown[] = [];
    await playRun(this.sut, { now: this.store.clock.now, failed: (f) => failed.push((f as { code: string }).code) });
    return failed;
  }

  /** Happens once right before the set is compared. */
  meanwhile(act: () => void): void {
    const { bucket } = this.store.settings;
    const { mutate } = bucket;
    bucket.mutate = async (key, fn) => {
      bucket.mutate = mutate;
      act();
      return mutate(key, fn);
    };
  }
}

describe('an exchange of the key that is planned', () => {
  it('goes on when everybody has said that it may', async () => {
    const w = new World();
    w.hear('n-1', [OLD]);
    await w.look();
    expect(w.set.phase).toBe('spread');
    w.hear('n-1', [OLD, NEW]);
    await w.look();
    expect(w.set).toMatchObject({ phase: 'sign', keys: [NEW, OLD], version: w.store.clock.wallMs() });
  });

  it('waits while nodes or settings are not seen', async () => {
    for (const unseen of ['nodes', 'settings'] as const) {
      const w = new World();
      w.store[unseen].live = false;
      await w.look();
      expect(w.set.phase).toBe('spread');
      w.store[unseen].live = true;
      await w.look();
      expect(w.set.phase).toBe('sign');
    }
  });

  it('leaves a set alone that somebody has changed meanwhile', async () => {
    const w = new World();
    w.meanwhile(() => w.write({ ...spread, without: ['n-9'] }));
    await w.look();
    expect(w.set).toEqual({ ...spread, without: ['n-9'] });
    await w.look();
    expect(w.set.phase).toBe('sign');
  });

  it('hears a node by its last report for as long as that is fresh', async () => {
    const w = new World({ ...spread, without: ['n-1'] });
    const { store } = w;
    w.hear('n-1', [OLD]);
    const { freshness } = store.clusterSettings.detection;
    store.clock.now = freshness;
    store.detector.hear(JSON.stringify(aBeacon({ seq: 2, keys: [OLD, NEW] })));
    await w.look();
    expect(w.set.phase).toBe('spread');
    store.clock.now += 1;
    await w.look();
    expect(w.set.phase).toBe('sign');
  });

  it('is decided again by who is known when it is carried out', () => {
    const fleetOf = (w: World) => planExecutor(w.store).asOf(keyExchange);
    const w = new World();
    const { fleet, ages } = fleetOf(w);
    const [intent] = keyExchange.plan(fleet, ages);
    if (intent?.do !== 'change-key-set') throw new Error('no step is planned');
    const decided = (): string | undefined =>
      intent.decide(spread, { fleet: fleetOf(w).fleet, token: 1, uuid: 'u' })?.phase;
    expect(decided()).toBe('sign');
    w.store.nodes.live = false;
    expect(decided()).toBeUndefined();
    w.store.nodes.live = true;
    w.store.nodes.set('n-2', aNode('n-2', { enrolled: true }));
    expect(decided()).toBeUndefined();
  });
});

describe('the secret of a key that was replaced', () => {
  const replaced: DatagramKeySet = { ...spread, retired: GONE };
  const world = (): World => {
    const w = new World(replaced);
    for (const key of [OLD, NEW, GONE]) w.store.secrets.set(datagramKeySecret(key), {});
    return w;
  };

  it('is destroyed before anything else is done, and then no set names it', async () => {
    const w = world();
    await w.look();
    expect([w.set, w.secrets]).toEqual([spread, [OLD, NEW].map(datagramKeySecret)]);
  });

  it('is named until it is destroyed', async () => {
    const w = world();
    const { bucket } = w.store.secrets;
    const remove = bucket.delete;
    bucket.delete = async () => Promise.reject(new MusterError('TIMEOUT', 'no answer'));
    expect(await w.look()).toEqual(['TIMEOUT']);
    expect(w.set).toEqual(replaced);
    bucket.delete = remove;
    await w.look();
    expect([w.set, w.secrets.length]).toEqual([spread, 2]);
  });

  it('is gone where a crash came before the set: that is written by the next look', async () => {
    const w = world();
    w.store.secrets.set(datagramKeySecret(GONE), undefined);
    await w.look();
    expect(w.set).toEqual(spread);
  });

  it('is not destroyed by who is no longer the conductor', async () => {
    const w = world();
    let left = 1;
    const check = (): number => {
      if (left-- > 0) return 1;
      throw new MusterError('LEASE_LOST', 'another conducts');
    };
    const run = {
      ...{ token: 1, now: 0, check, every: () => undefined },
      isolated: async (_about: object, act: () => Promise<unknown>) => void (await act()),
    };
    await expect(w.sut.reconcile(run)).rejects.toThrow('another conducts');
    expect([w.set, w.secrets.length]).toEqual([replaced, 3]);
  });
});
