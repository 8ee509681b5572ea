import { createHash } from 'node:crypto';
import { MusterError, type By, type JobRecord, type OperationRequest } from '#contracts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The same for the same key of the same caller, so that a second job cannot come of it. */
export const keyedJobId = (by: string, key: string): string => `job-${sha256(JSON.stringify([by, key])).slice(0, 24)}`;

/** Of all that was asked for, in whatever order its members came. */
export function fingerprint(r: OperationRequest & By & { key?: string }): string {
  const { by: _by, from: _from, key: _key, ...asked } = r;
  return sha256(JSON.stringify(asked, sorted));
}

const sorted = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** The job that came of the key before. @throws IDEMPOTENCY_MISMATCH where something else was asked for then */
export function sameRequest(job: JobRecord, asked: string): JobRecord {
  if (job.fingerprint === asked) return job;
  throw new MusterError(
    'IDEMPOTENCY_MISMATCH',
    `this key came with another request before, which became ${job.id}: take a new key for a new request`,
    { job: job.id },
  );
}
