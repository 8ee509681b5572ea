import type { Report } from '#contracts';

/**
 * What a node that does not answer has said last of what it runs. Its start gate asks inventory over the same way as its
 * reports come, and fails closed: what it did not run then, and what was not to run there, has not begun there since.
 */
export interface LastWord {
  /** Undefined: it has not said in this boot what it runs, or not to whoever asks. */
  workloads?: Report['workloads'];
  /** It was assigned to the node since that has looked, or it is not known that it was not. */
  mayHaveCome: (workload: string) => boolean;
  /** A boot of the node may start it without asking, whether or not it ran when that has looked. */
  mayStartByItself: (workload: string) => boolean;
}

/** Each start of what it carries asks its start gate first. */
const isGated = ({ workloads }: LastWord): boolean => workloads?.every((w) => w.gated === true) === true;

/** Does its last word say that the workload does not run there? */
export const rulesOut = (word: LastWord, workload: string): boolean =>
  isGated(word) &&
  !word.workloads?.some((w) => w.name === workload) &&
  !word.mayHaveCome(workload) &&
  !word.mayStartByItself(workload);
