import { simulateDetection, type DetectResult } from './detect.js';
import { drawHistory } from './history.js';
import { commit, progressOf, refuseBesideReplay, say, usageError, whole, type SimValues } from './sim-options.js';
import { storyOf } from './story.js';

/** Of each class there must be so many histories at least: a property that never met its case says nothing. */
const LEAST_COVERAGE = 0.01;
/** Violations that are told in full. */
const TOLD = 20;

function sizesOf(text: string | undefined): { least: number; most: number } | undefined {
  if (text === undefined) return undefined;
  const [, least, most] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const sizes = { least: Number(least), most: Number(most ?? least) };
  if (!(sizes.least >= 2 && sizes.most >= sizes.least)) throw usageError();
  return sizes;
}

function summary({ histories, seed, violations, coverage }: DetectResult, seconds: number): void {
  say(
    `${histories} histories of seed ${seed} in ${seconds.toFixed(1)} s (${Math.round(histories / seconds)} a second)`,
  );
  say(
    `coverage: ${Object.entries(coverage)
      .map(([kind, share]) => `${kind} ${(share * 100).toFixed(1)} %`)
      .join(', ')}`,
  );
  for (const v of violations.slice(0, TOLD)) say(`history ${v.history}, ${v.node} at ${v.time} ms: ${v.what}`);
  say(`${violations.length} violations`);
}

/** `sim -- detect`: @returns the exit code */
export function runDetect(values: SimValues): number {
  if (values.sweep !== undefined || values.from !== undefined || values.every !== undefined) throw usageError();
  refuseBesideReplay(values);
  if (values.replay !== undefined && values.json === true) throw usageError();
  const seed = whole(values.seed, 1);
  const sizes = sizesOf(values.nodes);
  if (values.replay !== undefined) {
    const { lines, violations } = storyOf(drawHistory(seed, whole(values.replay, 0), sizes));
    for (const line of lines) say(line);
    return violations === 0 ? 0 : 1;
  }
  const histories = Math.max(1, whole(values.histories, 1000));
  const began = performance.now();
  const result = simulateDetection({ histories, seed, ...(sizes && { sizes }), progress: progressOf(histories) });
  if (values.json === true)
    say(
      JSON.stringify({ histories, seed, commit: commit(), violations: result.violations, coverage: result.coverage }),
    );
  else summary(result, (performance.now() - began) / 1000);
  const rare = Object.entries(result.coverage).filter(([, share]) => share < LEAST_COVERAGE);
  for (const [kind, share] of rare) process.stderr.write(`too few histories of class ${kind}: ${share}\n`);
  return result.violations.length === 0 && rare.length === 0 ? 0 : 1;
}
