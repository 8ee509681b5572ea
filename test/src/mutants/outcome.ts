import { stripVTControlCharacters } from 'node:util';

/** By what a mutant was found. */
export type Kill =
  /** `why`: the first line of its failure: a time limit on a busy machine is not the mutant's. */
  | { spec: string; test: string; why: string }
  /** `histories`: how many it took, the one counted that shows it. */
  | { sim: string; seed: number; histories: number };

/** `reason`: why it was not killed; {@link GREEN}: its guards ran, and none turned red. */
export type Outcome = { killed: Kill } | { reason: string };

export const GREEN = 'green';

/** What counts of a report of specs ({@link file://../../../scripts/tests/report.mjs}). */
export interface SpecReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: readonly {
    status: string;
    message: string;
    assertionResults: readonly { fullName: string; status: string; failureMessages?: readonly string[] | null }[];
  }[];
}

const firstLine = (text: string): string => stripVTControlCharacters(text).trimStart().split('\n', 1)[0] ?? '';

/** Reads what was reported of one spec file. */
export function specOutcome(spec: string, report: SpecReport): Outcome {
  if (report.numPassedTests + report.numFailedTests === 0) return { reason: 'no specs ran' };
  const failed = report.testResults.flatMap((r) => r.assertionResults).find((t) => t.status === 'failed');
  if (failed !== undefined)
    return { killed: { spec, test: failed.fullName, why: firstLine(failed.failureMessages?.[0] ?? '') } };
  // All tests passed, and the file did not: it left something open, or threw where nobody caught it.
  const file = report.testResults.find((r) => r.status === 'failed');
  if (file !== undefined) return { killed: { spec, test: 'the whole file', why: firstLine(file.message) } };
  return { reason: GREEN };
}

/** What counts of a simulation's last line. */
interface SimResult {
  histories: number;
  violations: readonly { history: number }[];
}

const isSimResult = (value: unknown): value is SimResult =>
  typeof value === 'object' && value !== null && 'violations' in value && Array.isArray(value.violations);

function resultIn(stdout: string): SimResult | undefined {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) return undefined;
  const value: unknown = JSON.parse(last);
  return isSimResult(value) ? value : undefined;
}

/** Reads what `npm run sim -- NAME --json` printed. */
export function simOutcome(sim: string, seed: number, output: { stdout: string; stderr: string }): Outcome {
  const result = resultIn(output.stdout);
  if (result === undefined) {
    const why = output.stderr.trimEnd().split('\n').slice(-3).join(' ');
    return { reason: `the simulation ${sim} ended without a result: ${why}` };
  }
  if (result.violations.length === 0) return { reason: GREEN };
  const first = result.violations.reduce((least, v) => Math.min(least, v.history), Infinity);
  return { killed: { sim, seed, histories: first + 1 } };
}
