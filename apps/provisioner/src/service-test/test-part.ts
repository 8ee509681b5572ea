import type { ServiceTestStep } from '#contracts';
import type { StepReport } from './step-report.js';

/** What is run as the next part of a test. */
export interface TestRun {
  part: ServiceTestStep;
  /** edit: files that are changed by hand, one after the other. */
  files?: string[];
}

/** A part of a test that has been run. */
export interface TestPart {
  part: ServiceTestStep;
  report: StepReport;
  /** What it was tested as. */
  hostGroup: string;
  mode: string;
}
