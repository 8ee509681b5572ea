import { isEndedJob, isSettledJob, type JobRecord } from '#contracts/job/job.js';
import type { Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { watch } from '../command/watch.js';
import { showDiffs } from './diff-display.js';
import { checkFault } from './node-progress.js';
import { progressDisplay } from './progress-display.js';

export const jobPath = (id: string): string => `/v1/jobs/${encodeURIComponent(id)}`;

/** Waits for its end, as {@link followJob}. @throws Failure where the job failed */
export const awaitJob = async (run: Run, id: string): Promise<void> => ended(run, await followJob(run, id));

/** The job as it has ended, its nodes having followed; until then how far each is. */
export async function followJob(run: Run, id: string): Promise<JobRecord> {
  const display = run.print.forMachines ? undefined : progressDisplay(run.terminal);
  const watched = {
    look: () => run.server.get<JobRecord>(jobPath(id)),
    kinds: 'job,job-node',
    concerns: (data: Record<string, unknown>) => data['job'] === id,
    goesOn: `job ${id} goes on; to follow it: muster job get ${id} -f`,
  };
  return watch(run, watched, (now) => {
    if (isSettledJob(now)) display?.end(now);
    else if (!isEndedJob(now)) display?.show(now);
    return isSettledJob(now);
  });
}

/** What a command that saw a job end says last. @throws Failure where the job failed */
export async function ended(run: Run, job: JobRecord): Promise<void> {
  if (!(await run.print.machine(job, [job.id]))) showDiffs(run.terminal, job);
  if (job.status === 'Errored') throw new Failure(`job ${job.id} failed: ${job.error}`);
  // The check was carried out, and says that the node is not as it should be: a script must not go on.
  const bad = Object.entries(job.results).filter(([, result]) => checkFault(result) !== undefined);
  if (job.kind === 'check' && bad.length > 0)
    throw new Failure(`check of ${bad.map(([node, result]) => `${node}: ${checkFault(result) ?? ''}`).join('; ')}`);
}
