import { describe, expect, it } from 'vitest';
import type { RunningWorkload, WorkloadRecord } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aJob } from '../../testing/fixtures.js';
import { aNode, aReport, aWorkload } from '../../testing/records.js';
import { startGates } from './start-gates.js';

describe('what runs on a node without a start gate', () => {
  function world(ungated?: string[], o?: Partial<WorkloadRecord>) {
    const store = new MemoryStore();
    if (o !== undefined) store.workloads.set('db', aWorkload('db', o));
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

  const onA = { assignment: { node: 'a', generation: 1 }, generation: 1 };

  it('stands there still when it has crashed: its unit starts at the next boot', async () => {
    const { round, kept, alarm } = world(undefined, onA);
    await round(0, [db(false)]);
    await round(500, []);
    expect([kept(), alarm()?.cleared]).toEqual([['db'], undefined]);
  });

  it('is over when Muster has stopped it there', async () => {
    const { store, round, kept, alarm } = world(['db'], {
      ...onA,
      desired: 'stopped',
      stop: { cause: 'put', attempt: 0, job: 'j' },
    });
    const job = aJob({ id: 'j', kind: 'recover', status: 'Running', nodes: ['a'] });
    store.jobs.set('j', job);
    await round(0, []);
    expect(kept()).toEqual(['db']);
    const result = { ok: true, step: 'recover', workloads: { db: { started: false, stopped: true, reason: '' } } };
    store.jobs.set('j', { ...job, status: 'Complete', results: { a: result } });
    await round(500, [db(false)]);
    expect(kept()).toEqual(['db']);
    await round(1_000, []);
    expect(kept()).toBeUndefined();
    expect(alarm()).toHaveProperty('cleared');
  });

  it('is over with the workload, for all that is known', async () => {
    const { store, round, kept } = world(['db']);
    store.workloads.live = false;
    await round(0, []);
    expect(kept()).toEqual(['db']);
    store.workloads.live = true;
    store.workloads.unreadable.set('db', {} as never);
    await round(500, []);
    expect(kept()).toEqual(['db']);
    store.workloads.unreadable.delete('db');
    await round(1_000, []);
    expect(kept()).toBeUndefined();
  });

  it('is told of an old agent as what that does not tell', async () => {
    const { round, kept, alarm } = world();
    await round(0, [{ name: 'db', generation: 1 }]);
    expect([kept(), alarm()?.message]).toEqual([['db'], expect.stringContaining('agent is an old one')]);
    await round(500, [db(false)]);
    expect(alarm()?.message).not.toContain('old');
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
