import { setTimeout as pause } from 'node:timers/promises';
import { WorkerRegistry, type Bus, type Closable } from '#bus';
import type { JobRecord } from '#contracts';
import { jobAfter } from '#domain/job/changes.js';

const WORKER = 'bench';

/** No playbook is done sooner, ms: what a job costs at its end comes this long after its request was answered. */
const JOB_MS = 500;

/**
 * A provisioner that carries out nothing: every queued job runs at once, and is Complete soon, so that what is measured
 * is how fast requests are accepted, not how fast Ansible runs.
 */
export async function standInWorker(bus: Bus): Promise<Closable> {
  const worker = await WorkerRegistry.announce(bus, {
    service: 'provisioner',
    id: WORKER,
    drivers: ['ansible'],
  });
  const jobs = bus.bucket<JobRecord>('jobs');
  const view = await jobs.view();
  const begun = new Set<string>();
  const take = async (key: string): Promise<void> => {
    const job = view.get(key);
    if (job?.value.status !== 'Queued' || begun.has(key)) return;
    begun.add(key);
    try {
      const running = taken(job.value);
      if (running === undefined) return;
      const revision = await jobs.update(key, running, job.revision);
      await pause(JOB_MS);
      const done = completed(running);
      if (done !== undefined) await jobs.update(key, done, revision);
    } catch (e) {
      process.stderr.write(`  a job was not completed: ${String(e)}\n`);
    }
  };
  const stop = view.onChange((key) => void take(key));
  for (const { key } of view.entries()) void take(key);
  return {
    close: async () => {
      stop();
      await view.close();
      await worker.close();
    },
  };
}

const taken = (job: JobRecord): JobRecord | undefined =>
  jobAfter(job, { kind: 'taken', worker: WORKER, seen: job, at: Date.now() });

function completed(job: JobRecord): JobRecord | undefined {
  const ok = { ok: true, step: 'site', changed: 0, checksum: 'bench' };
  const results = Object.fromEntries(job.nodes.map((n) => [n, ok]));
  const by = { worker: WORKER, generation: job.generation };
  return jobAfter(job, { kind: 'completed', by, results, worked: true, at: Date.now() });
}
