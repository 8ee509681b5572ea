import { isEndedJob, type JobRecord } from '#contracts/job.js';
import type { Run } from '../command.js';
import { Failure } from '../failure.js';
import { eventsOf } from '../server/event-stream.js';
import { NoServer, Refusal } from '../server/server.js';
import { progressDisplay } from './progress-display.js';

/** Looked at anew after so long also without an event: progress within a task list makes none. */
const LOOK_AGAIN_MS = 1_000;

export const jobPath = (id: string): string => `/v1/jobs/${encodeURIComponent(id)}`;

/**
 * Shows how far each node is, until the job has ended. Ctrl-C ends the watching, not the job.
 * @throws Failure where the job failed
 */
export async function awaitJob(run: Run, id: string): Promise<void> {
  const stop = new AbortController();
  const wake = new Wake();
  const display = run.print.forMachines ? undefined : progressDisplay(run.terminal);
  const goesOn = (): void => run.terminal.note(`muster: job ${id} goes on; to follow it: muster job get ${id} -f`);
  process.prependOnceListener('SIGINT', goesOn);
  const listening = listen(run, id, stop.signal, wake);
  const look = lookOverOutages(run, id);
  try {
    for (;;) {
      const job = await look();
      if (job !== undefined && isEndedJob(job)) {
        display?.end(job);
        return await ended(run, job);
      }
      if (job !== undefined) display?.show(job);
      await wake.next(LOOK_AGAIN_MS);
    }
  } finally {
    process.removeListener('SIGINT', goesOn);
    stop.abort();
    await listening;
  }
}

/** The job outlives a gateway that is started anew: once it was seen, no answer is only a look without a result. */
function lookOverOutages(run: Run, id: string): () => Promise<JobRecord | undefined> {
  let seen = false;
  let told = false;
  return async () => {
    try {
      const job = await run.server.get<JobRecord>(jobPath(id));
      seen = true;
      told = false;
      return job;
    } catch (error) {
      const away = error instanceof NoServer || (error instanceof Refusal && error.status === 503);
      if (!away || !seen) throw error;
      if (!told) run.terminal.note(`muster: ${error.message}; trying again`);
      told = true;
      return undefined;
    }
  };
}

/** What a command that saw a job end says last. @throws Failure where the job failed */
export async function ended(run: Run, job: JobRecord): Promise<void> {
  await run.print.machine(job, [job.id]);
  if (job.status === 'Errored') throw new Failure(`job ${job.id} failed: ${job.error}`);
}

/** Wakes the watcher for each event of the job. What goes wrong here is found by looking again. */
async function listen(run: Run, id: string, signal: AbortSignal, wake: Wake): Promise<void> {
  try {
    for await (const event of eventsOf(run.server, 'kind=job,job-node', undefined, signal))
      if ((event.data as { job?: string }).job === id) wake.now();
  } catch (error) {
    if (!signal.aborted && error instanceof Failure) run.terminal.note(`muster: without live events: ${error.message}`);
    else if (!signal.aborted) throw error;
  }
}

class Wake {
  private pending = false;
  private resolve: (() => void) | undefined;

  now(): void {
    this.pending = true;
    this.resolve?.();
  }

  async next(limitMs: number): Promise<void> {
    if (!this.pending) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
        timer = setTimeout(resolve, limitMs);
      });
      clearTimeout(timer);
      this.resolve = undefined;
    }
    this.pending = false;
  }
}
