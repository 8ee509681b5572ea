import { WorkerRegistry, type Bus, type Closable } from '#bus';
import type { JobRecord } from '#contracts';

/**
 * A provisioner that carries out nothing: every queued job is Complete at once, so that what is measured is how fast
 * requests are accepted, not how fast Ansible runs.
 */
export async function standInWorker(bus: Bus): Promise<Closable> {
  const worker = await WorkerRegistry.announce(bus, {
    service: 'provisioner',
    id: 'bench',
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
      await jobs.update(key, completed(job.value), job.revision);
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

function completed(job: JobRecord): JobRecord {
  const now = Date.now();
  const ok = { ok: true, step: 'site', changed: 0, checksum: 'bench' };
  return {
    ...job,
    status: 'Complete',
    worker: 'bench',
    generation: job.generation + 1,
    startedAt: now,
    endedAt: now,
    results: Object.fromEntries(job.nodes.map((n) => [n, ok])),
  };
}
