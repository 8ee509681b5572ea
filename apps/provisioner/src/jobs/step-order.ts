import type { JobKind, JobStatus, NodeResult } from '#contracts';
import type { Step } from '../ansible/ansible-events.js';
import type { TestPart, TestRun } from '../service-test/test-part.js';

/** A step that has been run. */
export interface StepDone {
  step: Step;
  /** Ended by a cancel. */
  cancelled: boolean;
  results: Record<string, NodeResult>;
  /** service-test */
  test?: TestPart;
}

export interface PipelineInput {
  kind: JobKind;
  /** Names, or addresses of a discover job. */
  nodes: readonly string[];
  /** service-test: the one that is tested. */
  service?: string;
  /** In order. */
  done: readonly StepDone[];
  /** Why the job is to end before its time, where it is: `cancelled by ann`, `timed out after 60 s`. */
  ending?: string;
  /** An earlier worker of this job was cut off: it may have done any part of it. */
  resumed: boolean;
}

export type NextStep =
  | { run: Step; nodes: string[]; /** A cancel ends it too. */ cancellable: boolean; test?: TestRun }
  | { end: Extract<JobStatus, 'Complete' | 'Errored'>; error: string; results: Record<string, NodeResult> };
