import type { JobRecord, NodeResult } from '#contracts';
import type { Run } from '../command.js';
import { Failure } from '../failure.js';
import { eventsOf } from '../server/event-stream.js';

/** Looked at anew after so long also without an event: events may be cut off while the job is not. */
const LOOK_AGAIN_MS = 2_000;

const ended = (job: JobRecord): boolean => job.status === 'Complete' || job.status === 'Errored';

/** Shows each node's result as it comes, until the job has ended. @throws Failure where the job failed. */
export async function awaitJob(run: Run, id: string): Promise<void> {
  const stop = new AbortController();
  const told = new Set<string>();
  const wake = new Wake();
  const listening = listen(run, id, stop.signal, wake);
  try {
    let task = '';
    for (;;) {
      const job = await run.server.get<JobRecord>(`/v1/jobs/${encodeURIComponent(id)}`);
      if (!run.json) {
        if (job.task !== task && job.status === 'Running') run.terminal.line(`job ${id}: ${job.task}`);
        task = job.task;
        for (const [node, result] of Object.entries(job.results)) tell(run, node, result, told);
      }
      if (ended(job)) return finish(run, job);
      await wake.next(LOOK_AGAIN_MS);
    }
  } finally {
    stop.abort();
    await listening;
  }
}

function tell(run: Run, node: string, result: NodeResult, told: Set<string>): void {
  const text = resultText(result);
  if (told.has(`${node} ${text}`)) return;
  told.add(`${node} ${text}`);
  run.terminal.line(`${node}: ${run.terminal.paint(result.ok ? 'green' : 'red', text)}`);
}

export function resultText(result: NodeResult): string {
  if (result.ok) return `${result.step}: ok${result.cleanupFailed === true ? ' (its cleanup failed)' : ''}`;
  const why = [result.failedTask, result.message].filter((x) => x !== undefined && x !== '').join(': ');
  return `${result.step}: failed${why === '' ? '' : `: ${why}`}`;
}

function finish(run: Run, job: JobRecord): void {
  if (run.json) run.terminal.json(job);
  else run.terminal.line(`job ${job.id}: ${job.status}`);
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
