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

/**
 * Decides on all of them together; where that throws, on those alone about which the same decision does not throw by
 * itself. The decision is pure: it may be asked about each.
 * @throws MusterError what it throws about those as well
 */
export function decideTogether<R, T>(
  records: readonly R[],
  about: (record: R) => About,
  decide: (all: readonly R[]) => T,
): { readonly made: T; readonly failed: readonly FailRecord[] } {
  try {
    return { made: decide(records), failed: [] };
  } catch {
    const { made: sound, failed } = eachRecord(records, about, (r) => {
      decide([r]);
      return [r];
    });
    return { made: decide(sound), failed };
  }
}

/** Of an entry of the nodes, or of their incidents. */
export const aboutNode = ({ key: node }: Keyed): About => ({ node });
export const aboutWorkload = ({ key: workload }: Keyed): About => ({ workload });
export const aboutJob = ({ key: job }: Keyed): About => ({ job });

interface Keyed {
  readonly key: string;
}

/** The same of what was made before, with those that failed then. */
export function eachMade<R, T>(
  was: Decided<R>,
  about: (made: R) => About,
  decide: (made: R) => readonly T[],
): Decided<T> {
  const { made, failed } = eachRecord(was.made, about, decide);
  return { made, failed: [...was.failed, ...failed] };
}

/** The same as intents. */
export function intentsOfEach<R>(
  records: Iterable<R>,
  about: (record: R) => About,
  decide: (record: R) => readonly Intent[],
): Intent[] {
  return allIntents(eachRecord(records, about, decide));
}

export const allIntents = ({ made, failed }: Decided<Intent>): Intent[] => [...failed, ...made];

/** May an alarm end: nobody could say of its subject whether it is wanted where that failed. */
export const isDecided =
  (failed: readonly FailRecord[]) =>
  ({ subject }: { readonly subject: string }): boolean =>
    !failed.some((f) => Object.values(f.about).includes(subject));

/** Each record that failed once, whatever has failed of it, and all other intents. */
export function failedOnce(intents: readonly Intent[]): Intent[] {
  const seen = new Set<string>();
  return intents.filter((i) => {
    if (i.do !== 'fail-record') return true;
    const which = JSON.stringify(i.about);
    return !seen.has(which) && seen.add(which);
  });
}

const failRecord = (about: About, error: MusterError): FailRecord => ({
  ...{ do: 'fail-record', about, error },
  reason: `No decision could be made about it: ${error.message}`,
});
