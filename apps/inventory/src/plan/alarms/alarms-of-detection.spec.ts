import { beforeEach, describe, expect, it } from 'vitest';
import type { Beacon, VerdictKind } from '#contracts';
import type { Reconciler } from '../../conductor/task.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aBeacon, aNode } from '../../testing/records.js';
import { alarmsOfDetection } from './alarms-of-detection.js';
import { NO_QUORUM_AFTER_MS, DEGRADED_AFTER_MS, SILENT_AFTER_MS } from './detection-alarms.js';

describe('alarms of the detection, round by round', () => {
  let store: MemoryStore;
  let sut: Reconciler;

  beforeEach(() => {
    store = new MemoryStore();
    sut = planExecutor(store).drive(alarmsOfDetection);
    for (const name of ['n-1', 'n-2', 'n-3']) says(name, 'UP');
  });

  const says = (name: string, verdict: VerdictKind, networks: string[] = []): void =>
    void store.nodes.set(name, aNode(name, { verdict: { verdict, networks, epoch: 1, seq: 1, at: 1 } }));
  /** @param beacon right before it; undefined: none comes */
  const round = async (at: number, beacon?: Partial<Beacon>): Promise<void> => {
    store.clock.now = at;
    if (beacon !== undefined) store.detector.hear(JSON.stringify(aBeacon({ seq: at, ...beacon })));
    await playRun(sut, { now: at });
  };
  const standing = (): string[] =>
    Object.entries(store.alarms.content).flatMap(([key, a]) => (a.cleared === undefined ? [key] : []));

  it('tell of a blindness from when it began, and not from when a detector that sees was heard', async () => {
    await round(1_000, {});
    for (const at of [3_000, 5_000, 2_999 + NO_QUORUM_AFTER_MS]) await round(at, { sighted: false });
    expect(standing()).toEqual([]);
    await round(3_000 + NO_QUORUM_AFTER_MS, { sighted: false });
    expect(standing()).toEqual(['blind=fleet']);
    await round(3_001 + NO_QUORUM_AFTER_MS, {});
    expect(standing()).toEqual([]);
  });

  it('stand through a gap in the views, in which the time of a blindness goes on', async () => {
    await round(0, { sighted: false });
    store.nodes.live = false;
    await round(NO_QUORUM_AFTER_MS, {});
    store.nodes.live = true;
    await round(NO_QUORUM_AFTER_MS + 1, { sighted: false });
    expect(standing()).toEqual(['blind=fleet']);
    for (const table of [store.nodes, store.alarms]) {
      table.live = false;
      await round(store.clock.now + 1, {});
      table.live = true;
    }
    expect(standing()).toEqual(['blind=fleet']);
  });

  it('tell of a detector that was never heard once this process has listened for long enough', async () => {
    await round(SILENT_AFTER_MS - 1);
    expect(standing()).toEqual([]);
    await round(SILENT_AFTER_MS);
    expect(standing()).toEqual(['detector-silent=detector']);
  });

  it('give each node of a network that comes back node by node its time from then on', async () => {
    says('n-1', 'DEGRADED', ['backend']);
    says('n-2', 'DEGRADED', ['backend']);
    for (const at of [1_000, 2_000, 1_000 + DEGRADED_AFTER_MS]) await round(at, {});
    expect(standing()).toEqual(['network-down=backend']);
    says('n-1', 'UP');
    await round(4_000, {});
    expect(standing()).toEqual([]);
    await round(3_999 + DEGRADED_AFTER_MS, {});
    expect(standing()).toEqual([]);
    await round(4_000 + DEGRADED_AFTER_MS, {});
    expect(standing()).toEqual(['node-degraded=n-2']);
  });
});
