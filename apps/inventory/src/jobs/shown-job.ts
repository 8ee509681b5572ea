import { masked, type JobRecord, type WithRevision } from '#contracts';

/** A job as answered to readers: whoever may look at jobs is not yet one who may know the fleet's secrets. */
export function shownJob(job: JobRecord, revision: number): WithRevision<JobRecord> {
  // What it hashes may be guessed, were it shown.
  const { fingerprint: _hidden, ...rest } = job;
  const shown: WithRevision<JobRecord> = { ...rest, revision, extraVars: masked(job.extraVars) };
  if (job.recover !== undefined) shown.recover = job.recover.map((r) => ({ ...r, spec: masked(r.spec) }));
  return shown;
}
