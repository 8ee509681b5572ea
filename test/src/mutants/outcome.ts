/** By what a mutant was found. */
export type Kill =
  | { spec: string; test: string }
  /** `histories`: how many it took, the one counted that shows it. */
  | { sim: string; seed: number; histories: number };

/** `reason`: why it was not killed; {@link GREEN}: its guards ran, and none turned red. */
export type Outcome = { killed: Kill } | { reason: string };

export const GREEN = 'green';

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
