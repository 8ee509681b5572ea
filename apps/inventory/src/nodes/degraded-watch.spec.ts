import { beforeEach, describe, expect, it } from 'vitest';
import { defaultSettings, type NodeRecord } from '#contracts';
import type { DetectorView } from '../verdicts/detector-view.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aNode } from '../testing/records.js';
import { DegradedWatch } from './degraded-watch.js';

const AFTER = 30_000;

describe('how long a node has been DEGRADED', () => {
  const records = new Map<string, NodeRecord>();
  let changed: (name: string, node: NodeRecord) => void = () => undefined;
  /** Time in which the monitor saw. */
  let seenMs: number;
  let sut: DegradedWatch;

  const view = {
    live: true,
    entries: () => [...records].map(([key, value]) => ({ key, value })),
    onChange: (fn: typeof changed) => ((changed = fn), () => undefined),
  };
  const clusterSettings = { ...defaultSettings('spec'), degraded: { policy: 'drain' as const, after: AFTER } };
  const store = { nodes: { view }, settings: { view }, clusterSettings } as unknown as InventoryStore;

  const says = (name: string, ...silent: string[]): void => {
    const verdict = silent.length > 0 ? ('DEGRADED' as const) : ('UP' as const);
    const node = aNode(name, { verdict: { verdict, networks: silent, epoch: 1, seq: 1, at: 1 } });
    records.set(name, node);
    changed(name, node);
  };
  const unknown = (name: string): void => {
    const node = aNode(name, { verdict: { verdict: 'UNKNOWN', networks: [], epoch: 1, seq: 1, at: 1 } });
    records.set(name, node);
    changed(name, node);
  };
  const steps = (): string[] => [...sut.steps().keys()];
  const pass = (ms: number, o: { withoutQuorum?: boolean } = {}): void => {
    if (o.withoutQuorum !== true) seenMs += ms;
  };

  beforeEach(() => {
    seenMs = 1_000;
    records.clear();
    const detector = {
      sighted: true,
      get sightedMs() {
        return seenMs;
      },
    } as DetectorView;
    sut = new DegradedWatch(store, detector);
    for (const name of ['a', 'b', 'c', 'd', 'e']) says(name);
  });

  it('is from when it was first seen, whatever is said again', () => {
    says('a', 'backend');
    pass(AFTER - 1);
    says('a', 'backend');
    expect(steps()).toEqual([]);
    pass(1);
    expect(steps()).toEqual(['a']);
  });

  it('does not count while its network was down for most: when that comes back, it does so node by node', () => {
    for (const name of ['a', 'b', 'c']) says(name, 'backend');
    pass(10 * AFTER);
    expect(steps()).toEqual([]);
    pass(500);
    says('a');
    expect(steps()).toEqual([]);
    pass(AFTER);
    expect(steps()).toEqual(['b', 'c']);
  });

  it('does not count while nobody saw the node: its verdict was UNKNOWN, or the monitor was blind or gone', () => {
    says('a', 'backend');
    pass(AFTER - 1);
    unknown('a');
    pass(10 * AFTER);
    unknown('a');
    says('a', 'backend');
    pass(10 * AFTER, { withoutQuorum: true });
    expect(steps()).toEqual([]);
    pass(1);
    expect(steps()).toEqual(['a']);
    says('b', 'backend');
    says('b');
    unknown('b');
    pass(AFTER);
    says('b', 'backend');
    expect(steps()).toEqual(['a']);
  });
});
