import { describe, expect, it } from 'vitest';
import {
  MusterError,
  type JobRecord,
  type NodeRecord,
  type NodeResult,
  type RunningWorkload,
  type WorkloadOutcome,
  type WorkloadRecord,
} from '#contracts';
import { MOST_UNGATED } from '#domain/workload/ungated.js';
import { LATE_LIST_MS } from '#domain/workload/start-decision.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode, aReport, aWorkload } from '../../testing/records.js';
import { stops, stopViews } from './stops.js';
import { STILL_RUNS_MS } from './stop-step.js';

const runs: RunningWorkload[] = [{ name: 'db', generation: 2 }];
const move = { cause: 'drain', from: 'a', to: 'b' };

/** One workload that is to be stopped where it is; its node is heard in each round. */
function world(o: Partial<WorkloadRecord> = {}) {
  const store = new MemoryStore();
  const assignment = { node: 'a', generation: 2 };
  const owed = { desired: 'stopped' as const, assignment, generation: 2, stop: { cause: 'put', attempt: 0 } };
  store.workloads.set('db', aWorkload('db', { ...owed, ...o }));
  const plans = planExecutor(store);
  const sut = plans.drive(stops);
  /** @param workloads undefined: its node says nothing */
  const round = (at: number, workloads?: RunningWorkload[]): Promise<void> => {
    store.clock.now = at;
    if (workloads !== undefined) store.reports.hear(aReport('a', { seq: at + 1, workloads }), at);
    return playRun(sut, { now: at, token: 9 });
  };
  const jobs = (): JobRecord[] => Object.values(store.jobs.content);
  /** @param o what its result on its node has besides */
  const end = (own: WorkloadOutcome | undefined, o: Partial<NodeResult> = {}): void => {
    const ok = own?.stopped === true;
    const result = { ok, step: 'recover', ...(own && { workloads: { db: own } }), ...o };
    for (const job of jobs())
      store.jobs.set(job.id, { ...job, status: ok ? 'Complete' : 'Errored', results: { a: result } });
  };
  const shown = () => {
    const { fleet, ages } = plans.asOf(stops);
    return stopViews(fleet, ages);
  };
  return { store, round, jobs, end, shown, db: () => store.workloads.content['db'] };
}

describe('a stop that is handed to a job', () => {
  it('names the job before that is written, and both are told', async () => {
    const { store, round, jobs, db } = world();
    let named: string | undefined;
    const { create } = store.jobs.bucket;
    store.jobs.bucket.create = async (key, value) => {
      named = db()?.stop?.job;
      return create(key, value);
    };
    await round(0, runs);
    expect(jobs()).toMatchObject([{ conductor: 9, recover: [{ workload: 'db', generation: 2, stop: true }] }]);
    expect([named, db()?.stop?.job]).toEqual([jobs()[0]?.id, jobs()[0]?.id]);
    expect(store.told).toEqual([`job ${named}`]);
  });

  it('is written by the next conductor where the one before went down in between, and only once', async () => {
    const { store, round, jobs, db } = world();
    const { create } = store.jobs.bucket;
    store.jobs.bucket.create = async () => Promise.reject(new MusterError('TIMEOUT', 'no answer'));
    await expect(round(0, runs)).rejects.toThrow('no answer');
    const named = db()?.stop?.job;
    expect([typeof named, jobs()]).toEqual(['string', []]);
    store.jobs.bucket.create = create;
    await round(1_000, runs);
    await round(2_000, runs);
    expect(jobs().map((j) => j.id)).toEqual([named]);
    expect(store.told).toEqual([`job ${named}`]);
  });

  it('is not written again where only the view of the jobs is behind', async () => {
    const { store, round, db } = world({ stop: { cause: 'put', attempt: 0, job: 'j' } });
    const job = { key: 'j', revision: 5, value: { id: 'j' } as JobRecord };
    store.jobs.bucket.read = async () => Promise.resolve(job);
    await round(0, runs);
    expect([store.told, db()?.stop?.job]).toEqual([[], 'j']);
  });

  it('is told where nobody can read its job, and not given to another', async () => {
    const { store, round, db } = world({ stop: { cause: 'put', attempt: 0, job: 'j' } });
    store.jobs.bucket.read = async () => Promise.resolve({ why: 'broken', revision: 5 } as never);
    await expect(round(0, runs)).rejects.toThrow('nobody can read its job j');
    expect([store.told, db()?.stop?.job]).toEqual([[], 'j']);
  });

  it('is not given twice by two who decide on the same record', async () => {
    const { store, round, jobs, db } = world();
    const { mutate } = store.workloads.bucket;
    store.workloads.bucket.mutate = async (key, fn) => {
      store.workloads.set(key, { ...(db() as WorkloadRecord), stop: { cause: 'put', attempt: 0, job: 'of another' } });
      return mutate(key, fn);
    };
    await round(0, runs);
    expect([db()?.stop?.job, jobs()]).toEqual(['of another', []]);
  });
});

describe('a stop whose job has ended', () => {
  const stopped: WorkloadOutcome = { started: false, stopped: true, reason: '' };

  it('is read back by the word of the job where it shall not run', async () => {
    const { store, round, end, db } = world();
    await round(0, runs);
    end(stopped);
    await round(1_000, runs);
    expect(db()).not.toHaveProperty('stop');
    expect(store.told.at(-1)).toBe('workload db');
  });

  it('needs the word of its node, too, where it is to be started elsewhere', async () => {
    const { round, end, db } = world({ desired: 'running', move });
    await round(0, runs);
    end(stopped);
    await round(1_000, runs);
    // Silent is no word.
    await round(1_000 + STILL_RUNS_MS);
    expect(db()?.stop).toMatchObject({ attempt: 0 });
    await round(1_001 + STILL_RUNS_MS, []);
    expect([db()?.assignment, db()?.stop]).toEqual([undefined, undefined]);
  });

  it('has left when the record of its node says as well that a boot does not start it any more', async () => {
    const { store, round, end, db } = world({ desired: 'running', move });
    store.nodes.set('a', aNode('a', { ungated: ['db'] }));
    await round(0, runs);
    end(stopped);
    await round(1_000, []);
    expect(db()?.assignment?.node).toBe('a');
    store.nodes.set('a', aNode('a', { ungated: ['web'] }));
    await round(1_500, []);
    expect(db()?.assignment).toBeUndefined();
  });

  it('has failed where its node goes on naming it', async () => {
    const { round, end, db } = world({ desired: 'running', move });
    await round(0, runs);
    end(stopped);
    await round(1_000, runs);
    await round(999 + STILL_RUNS_MS, runs);
    expect(db()?.stop).toMatchObject({ attempt: 0 });
    await round(1_000 + STILL_RUNS_MS, runs);
    expect(db()?.stop).toEqual({
      ...{ cause: 'put', attempt: 1 },
      why: 'It was read back as stopped, and is reported still.',
    });
  });

  it.each<[string, WorkloadOutcome | undefined, Partial<NodeResult>]>([
    ['of the workload', { started: false, reason: '' }, {}],
    ['of the whole node', undefined, { message: '' }],
  ])('is not taken for stopped by a failure %s that gives no reason', async (_what, own, o) => {
    const { round, end, db } = world();
    await round(0, runs);
    end(own, o);
    await round(1_000, runs);
    expect(db()?.stop).toEqual({ cause: 'put', attempt: 1, why: 'The job ended without a word about it.' });
  });

  it('is tried again after a failure, later each time, and that is shown', async () => {
    const { round, jobs, end, shown, db } = world();
    await round(0, runs);
    end({ started: false, reason: 'it still runs' });
    await round(1_000, runs);
    expect(db()?.stop).toEqual({ cause: 'put', attempt: 1, why: 'it still runs' });
    await round(1_400, runs);
    await round(2_300, runs);
    expect([jobs().length, shown()]).toMatchObject([1, [{ step: 'wait', leftMs: 100, isSilent: false }]]);
    await round(2_400, runs);
    expect(jobs()).toHaveLength(2);
  });
});

describe('a stop that fails on a bad host, of what shall run elsewhere', () => {
  const given: Partial<WorkloadRecord> = { desired: 'running', move: { ...move, cause: 'start-failed' } };
  const noSpace = { started: false, reason: 'No space left on device' };
  const other: RunningWorkload[] = [{ name: 'web', generation: 1 }];
  /** Its tries fail, and its node is heard each second; until this time, ms. */
  const failing = async ({ round, end, db }: ReturnType<typeof world>, until: number, says: RunningWorkload[]) => {
    for (let at = 0; at <= until; at += 1_000) {
      await round(at, says);
      end(noSpace);
      if (db()?.assignment === undefined) return at;
    }
    return undefined;
  };
  const start = (node: Partial<NodeRecord> = {}) => {
    const w = world(given);
    w.store.nodes.set('a', aNode('a', node));
    return w;
  };

  it('is over by the word of its node, in looks that all began after its gate was shut', async () => {
    const w = start();
    const { freshness } = w.store.clusterSettings.detection;
    expect(await failing(w, 60_000, other)).toBeGreaterThanOrEqual(LATE_LIST_MS + freshness);
    expect(w.db()).toMatchObject({ generation: 3, move: { from: 'a' } });
    expect(w.db()).not.toHaveProperty('stop');
    expect(w.store.told.at(-1)).toBe('workload db');
  });

  it('is owed for as long as its node names it, be it only as being started', async () => {
    const w = start();
    expect(await failing(w, 60_000, [{ name: 'db', generation: 2, starting: true }])).toBeUndefined();
  });

  it('is owed where its node may start it without asking, or where there is no record of the node', async () => {
    const many = Array.from({ length: MOST_UNGATED }, (_, i) => `w-${i}`);
    for (const ungated of [['db'], many]) expect(await failing(start({ ungated }), 60_000, other)).toBeUndefined();
    expect(await failing(world(given), 60_000, other)).toBeUndefined();
  });

  it.each<[string, RunningWorkload[] | undefined]>([
    ['a silence', undefined],
    ['it was named', runs],
  ])('counts anew after %s', async (_what, says) => {
    const w = start();
    const { round, end, db } = w;
    const { freshness } = w.store.clusterSettings.detection;
    await failing(w, 4_000, other);
    const again = 4_000 + freshness + 2_000;
    await round(again - 1_000, says);
    end(noSpace);
    for (const at of [0, 2_000, 4_000, 6_000, LATE_LIST_MS + freshness]) {
      await round(again + at, other);
      end(noSpace);
      expect(db()?.assignment?.node).toBe('a');
    }
  });
});

describe('what was read back as stopped', () => {
  it('is stopped again once its node has named it for longer than a report is on its way', async () => {
    const { store, round, jobs, shown, db } = world({ desired: 'stopped' });
    const { stop: _stop, ...readBack } = db() as WorkloadRecord;
    store.workloads.set('db', readBack);
    await round(0, runs);
    await round(1_000, []);
    await round(2_000, runs);
    await round(1_999 + STILL_RUNS_MS, runs);
    expect([db()?.stop, shown()]).toEqual([undefined, []]);
    await round(2_000 + STILL_RUNS_MS, runs);
    expect(db()).toMatchObject({ generation: 3, stop: { cause: 'seen', attempt: 0 } });
    await round(2_500 + STILL_RUNS_MS, runs);
    expect(jobs()).toMatchObject([{ recover: [{ generation: 3 }] }]);
  });
});
