import type { Intent } from '../plan/intent.js';
import type { TaskRun } from '../conductor/task.js';

/** Under which an intent is carried out: asked right before each write. */
export type Right = Pick<TaskRun, 'token' | 'check'>;

/** What came of an intent. */
export interface Written {
  /** Whether anything was; where not, the record is as it should be, or is planned anew. */
  readonly isWritten: boolean;
  /** What follows it. @default nothing */
  readonly next?: readonly Intent[];
  /** What follows is written side by side. @default in its order, each when the one before it is written */
  readonly isAtOnce?: true;
}

export const NOTHING: Written = { isWritten: false };
export const WRITTEN: Written = { isWritten: true };

export const isWritten = (is: boolean): Written => (is ? WRITTEN : NOTHING);

/** It was, and this follows. */
export const followedBy = (next: readonly Intent[] = []): Written => ({ isWritten: true, next });
