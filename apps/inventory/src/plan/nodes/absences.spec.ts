import { describe, expect, it } from 'vitest';
import type { RunningWorkload, WorkloadRecord } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode, aReport, aWorkload } from '../../testing/records.js';
import { absences, absenceViews } from './absences.js';
import { ABSENT_MS } from '../workloads/workload-absence.js';

describe('workloads that end by themselves', () => {
  /** A node that is heard in each round, with what it runs. */
  function world(o: Partial<WorkloadRecord> = {}) {
    const store = new MemoryStore();
    store.nodes.set('a', aNode('a'));
    const assignment = { node: 'a', generation: 2 };
    store.workloads.set('db', aWorkload('db', { assignment, generation: 2, boot: 'boot-a', ...o }));
    const plans = planExecutor(store);
    const sut = plans.drive(absences);
    const round = (at: number, workloads: RunningWorkload[] = []): Promise<void> => {
      store.clock.now = at;
      store.reports.hear(aReport('a', { seq: at + 1, workloads }), at);
      return playRun(sut, { now: at });
    };
    const leftMs = (): number | undefined => {
      const { fleet, ages } = plans.asOf(absences);
      return absenceViews(fleet, ages)[0]?.leftMs;
    };
    return { store, round, leftMs, db: () => store.workloads.content['db'] };
  }

  it('are owed their start once their node has left them out for long enough, and that is shown', async () => {
    const { store, round, leftMs, db } = world();
    await round(0);
    await round(ABSENT_MS - 500);
    expect([db()?.start, leftMs()]).toEqual([undefined, 500]);
    await round(ABSENT_MS);
    expect(db()).toMatchObject({ start: { cause: 'ended', attempt: 0 }, ended: { times: 1 } });
    expect([leftMs(), store.logged]).toEqual([undefined, ['workload has ended by itself: it is started again']]);
  });

  it.each<[string, (store: MemoryStore, live: boolean) => void]>([
    ['records', (store, live) => void (store.nodes.live = live)],
    ['reservations', (store, live) => void (store.reservations.live = live)],
  ])('are counted anew after a gap in the view of the %s', async (_what, setLive) => {
    const { store, round, leftMs, db } = world();
    await round(0);
    setLive(store, false);
    await round(5_000);
    expect(leftMs()).toBeUndefined();
    setLive(store, true);
    await round(6_000);
    await round(6_000 + ABSENT_MS - 1);
    expect(db()?.start).toBeUndefined();
    await round(6_500 + ABSENT_MS);
    expect(db()?.start).toBeDefined();
  });

  it.each<[string, Partial<WorkloadRecord>]>([
    ['another generation', { generation: 3, assignment: { node: 'a', generation: 3 } }],
    ['another boot', { boot: 'boot-next' }],
  ])('are left alone where the record that is replaced is of %s', async (_what, o) => {
    const { store, round, db } = world();
    await round(0);
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      store.workloads.set(key, { ...(db() as WorkloadRecord), ...o });
      return mutate(key, fn);
    };
    await round(ABSENT_MS);
    expect(db()).toMatchObject(o);
    expect([db()?.start, store.logged]).toEqual([undefined, []]);
  });

  it('are told of from the third time in a row on, until they run elsewhere', async () => {
    const { store, round, db } = world({ ended: { times: 3, at: 1 } });
    const alarm = (): unknown => store.alarms.content['workload-ended=db'];
    await round(0, [{ name: 'db', generation: 2 }]);
    expect(alarm()).toMatchObject({ severity: 'warning', message: expect.stringContaining('3 times') as unknown });
    expect(alarm()).not.toHaveProperty('cleared');
    store.workloads.set('db', { ...(db() as WorkloadRecord), ended: { times: 1, at: 1 } });
    await round(500, [{ name: 'db', generation: 2 }]);
    expect(alarm()).toHaveProperty('cleared');
  });
});
