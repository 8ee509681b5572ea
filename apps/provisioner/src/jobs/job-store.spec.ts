import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, type Bus, type KvBucket } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import type { JobRecord } from '#contracts';
import { job } from '../testing/records.js';
import { claimJob, refuseJob, type JobClaim } from './job-store.js';

describe('the hold of a worker on a job', () => {
  let nats: TestNats;
  let bus: Bus;
  let jobs: KvBucket<JobRecord>;

  beforeAll(async () => {
    nats = await startTestNats();
    bus = await connectBus({ name: 'spec', servers: [nats.url] });
    await bus.createBuckets();
    jobs = bus.bucket<JobRecord>('jobs');
  });
  afterAll(async () => {
    await bus.close();
    await nats.stop();
  });

  const stored = async (id: string): Promise<JobRecord | undefined> => (await jobs.get(id))?.value;
  const claimed = async (seen: JobRecord, worker: string): Promise<{ claim: JobClaim; job: JobRecord }> => {
    const taken = await claimJob(bus, seen, worker);
    if (taken === undefined) throw new Error(`${worker} did not get ${seen.id}`);
    return taken;
  };

  it('ends with the take-over by another, and with its own later one: what it writes after that is refused', async () => {
    const queued = job('j1');
    await jobs.create('j1', queued);
    const first = await claimed(queued, 'p1');
    await first.claim.write((j) => ({ ...j, task: 'site' }));
    const second = await claimed(first.job, 'p2');
    const third = await claimed(second.job, 'p2');
    for (const late of [first, second])
      await expect(late.claim.write((j) => ({ ...j, task: 'late' }))).rejects.toMatchObject({
        code: 'STALE_TOKEN',
        facts: { job: 'j1', generation: late.job.generation, current: 3 },
      });
    expect(await stored('j1')).toMatchObject({ worker: 'p2', generation: 3, task: 'site' });
    expect(await third.claim.write((j) => ({ ...j, task: 'check' }))).toMatchObject({ task: 'check' });
  });

  it('ends with the job: nothing is written over its end', async () => {
    const queued = job('j2');
    await jobs.create('j2', queued);
    const { claim } = await claimed(queued, 'p1');
    await claim.write((j) => ({ ...j, status: 'Errored', error: 'cancelled by ann' }));
    await expect(claim.write((j) => ({ ...j, task: 'late' }))).rejects.toMatchObject({ code: 'STALE_TOKEN' });
    expect(await stored('j2')).toMatchObject({ status: 'Errored', task: '' });
  });

  it('is had by one of two that take the job at once', async () => {
    const queued = job('j3');
    await jobs.create('j3', queued);
    const taken = await Promise.all(['p1', 'p2'].map((worker) => claimJob(bus, queued, worker)));
    const [one, ...more] = taken.filter((t) => t !== undefined);
    expect(more).toEqual([]);
    expect(await stored('j3')).toMatchObject({ worker: one?.claim.worker, generation: 1 });
  });

  it('is not had by who saw the job as it is no more, and ends by no refusal', async () => {
    const queued = job('j4');
    await jobs.create('j4', queued);
    const { job: taken } = await claimed(queued, 'p1');
    await claimed(taken, 'p2');
    for (const seen of [queued, taken]) expect(await claimJob(bus, seen, 'p3')).toBeUndefined();
    expect(await refuseJob(bus, 'j4', { error: 'STALE_TOKEN' })).toBeUndefined();
    expect(await stored('j4')).toMatchObject({ status: 'Running', worker: 'p2', generation: 2 });
  });
});
