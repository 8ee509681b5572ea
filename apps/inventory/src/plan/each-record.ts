import { MusterError } from '#contracts';
import type { About } from '../conductor/task.js';
import type { FailRecord, Intent } from './intent.js';

/** What was decided of each record, and those of which a decision threw. */
export interface Decided<T> {
  readonly made: readonly T[];
  readonly failed: readonly FailRecord[];
}

/**
 * Decides on each record by itself: one about which a decision throws fails alone, under its kind and key, and holds up
 * no other.
 */
export function eachRecord<R, T>(
  records: Iterable<R>,
  about: (record: R) => About,
  decide: (record: R) => readonly T[],
): Decided<T> {
  const made: T[] = [];
  const failed: FailRecord[] = [];
  for (const record of records)
    try {
      made.push(...decide(record));
    } catch (cause) {
      failed.push(failRecord(about(record), MusterError.from(cause)));
    }
  return { made, failed };
}

/** The same as intents. */
export function intentsOfEach<R>(
  records: Iterable<R>,
  about: (record: R) => About,
  decide: (record: R) => readonly Intent[],
): Intent[] {
  const { made, failed } = eachRecord(records, about, decide);
  return [...failed, ...made];
}

/** May an alarm end: nobody could say of its subject whether it is wanted where that failed. */
export const isDecided =
  (failed: readonly FailRecord[]) =>
  ({ subject }: { readonly subject: string }): boolean =>
    !failed.some((f) => Object.values(f.about).includes(subject));

const failRecord = (about: About, error: MusterError): FailRecord => ({
  ...{ do: 'fail-record', about, error },
  reason: `No decision could be made about it: ${error.message}`,
});
