import type { FailedOn, WorkloadRecord } from '#contracts';

/**
 * Failed tries of one order after which nothing else waits for it any longer: not the incident of its old node, nor the
 * next move. A start is tried on another node then, where there is one.
 */
export const TRIES_OF_ONE_ORDER = 3;

/** For so long a node that did not get a workload started is taken last for it, ms. */
export const LEFT_OUT_MS = 30 * 60_000;

/** Cause of a move away from a node that did not get it started. */
export const START_FAILED = 'start-failed';

/** Its node has failed to start it again and again, and no job tries it now. */
export const isFailing = (w: WorkloadRecord): boolean =>
  w.desired === 'running' &&
  w.stop === undefined &&
  w.start !== undefined &&
  w.start.job === undefined &&
  w.start.attempt >= TRIES_OF_ONE_ORDER;

/** Those that still count. `wallMs`: now. One from after now is of a clock that was set back: it counts. */
export const stillLeftOut = (w: Pick<WorkloadRecord, 'failedOn'>, wallMs: number): FailedOn[] =>
  (w.failedOn ?? []).filter((f) => wallMs - f.at < LEFT_OUT_MS);

/** Nodes that placement takes last for it. */
export const leftOut = (w: Pick<WorkloadRecord, 'failedOn'>, wallMs: number): string[] =>
  stillLeftOut(w, wallMs).map((f) => f.node);
