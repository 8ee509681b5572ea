import { describe, expect, it } from 'vitest';
import type { RunningWorkload } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode, aReport } from '../../testing/records.js';
import { startGates } from './start-gates.js';

describe('what runs on a node without a start gate', () => {
  function world(ungated?: string[]) {
    const store = new MemoryStore();
    store.nodes.set('a', aNode('a', { ...(ungated && { ungated }) }));
    const sut = planExecutor(store).drive(startGates);
    const round = (at: number, workloads?: RunningWorkload[]): Promise<void> => {
      store.clock.now = at;
      store.reports.hear(aReport('a', { seq: at + 1, ...(workloads && { workloads }) }), at);
      return playRun(sut, { now: at });
    };
    return {
      ...{ store, round },
      kept: () => store.nodes.content['a']?.ungated,
      alarm: () => store.alarms.content['workload-ungated=a'],
    };
  }
  const db = (gated: boolean): RunningWorkload => ({ name: 'db', generation: 1, gated });

  it('stands in its record and in an alarm, until it has one', async () => {
    const { round, kept, alarm } = world();
    await round(0, [db(false)]);
    expect(kept()).toEqual(['db']);
    expect(alarm()).toMatchObject({ severity: 'warning', message: expect.stringContaining('db ran there') as unknown });
    await round(500, [db(true)]);
    expect(kept()).toBeUndefined();
    expect(alarm()).toHaveProperty('cleared');
  });

  it('is kept, and told of, while the node says nothing of what runs there', async () => {
    const { round, kept, alarm } = world(['db']);
    await round(0);
    expect([kept(), alarm()?.cleared, alarm()?.count]).toEqual([['db'], undefined, 1]);
  });

  it('is decided again on the record that is replaced', async () => {
    const { store, round, kept } = world();
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) => {
      store.nodes.set('a', aNode('a', { ungated: ['db'], state: 'Disappeared' }));
      return mutate(key, fn);
    };
    await round(0, [db(false)]);
    expect([kept(), store.nodes.content['a']?.state]).toEqual([['db'], 'Disappeared']);
  });

  it('is over for nobody through a gap in the view of the nodes', async () => {
    const { store, round, alarm } = world(['db']);
    await round(0);
    store.nodes.set('a', undefined);
    store.nodes.live = false;
    await round(500);
    expect(alarm()).not.toHaveProperty('cleared');
    store.nodes.live = true;
    await round(1_000);
    expect(alarm()).toHaveProperty('cleared');
  });
});
