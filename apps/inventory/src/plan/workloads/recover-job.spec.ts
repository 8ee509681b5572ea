import { expect, it } from 'vitest';
import type { JobRecord, NodeResult } from '#contracts';
import { aWorkload } from '../../testing/records.js';
import { orderOutcome, recoverJob } from './recover-job.js';

const job = (o: Partial<JobRecord>): JobRecord => ({
  ...recoverJob('j', { node: 'n-1', cause: 'put', workloads: [aWorkload('db')] }, 1, 0),
  status: 'Complete',
  ...o,
});
const ended = (result: Partial<NodeResult>): JobRecord =>
  job({ results: { 'n-1': { ok: true, step: 'recover', ...result } } });
const both = (j: JobRecord): object[] =>
  (['start', 'stop'] as const).map((order) => orderOutcome(order, j, 'n-1', 'db') ?? {});

it('says of an order what its job says of the workload', () => {
  const started = ended({ workloads: { db: { started: true, reason: 'it runs', seen: 4 } } });
  expect(both(started)).toEqual([
    { done: true, why: 'it runs', seen: 4 },
    { done: false, why: 'it runs', seen: 4 },
  ]);
  const stopped = ended({ ok: false, workloads: { db: { started: false, stopped: true, reason: '' } } });
  expect(both(stopped)).toMatchObject([{ done: false }, { done: true }]);
});

it('takes a job that went well without a word about the workload for a start, and never for a stop', () => {
  expect(both(ended({}))).toMatchObject([{ done: true }, { done: false }]);
  expect(both(ended({ ok: false, message: 'no ssh' }))).toMatchObject(Array(2).fill({ done: false, why: 'no ssh' }));
  expect(both(job({ status: 'Errored', error: 'lost' }))).toMatchObject(Array(2).fill({ done: false, why: 'lost' }));
});

it('says nothing before the job has ended', () => {
  expect(both(job({ status: 'Running' }))).toEqual([{}, {}]);
});
