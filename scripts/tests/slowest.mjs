import { relative } from 'node:path';
import { folder } from '../setup/run.mjs';

/** So many of each are named. */
const NAMED = 8;

/**
 * Where the time of `npm test` went: a line for the specs and one for the scenarios, with the longest of each.
 *
 * @param times what `specs` and `scenarios` answered, each with `what` it is and how many `seconds` it took in all
 */
export const slowest = (times) =>
  times.map(({ what, seconds, report, each }) => {
    const named = [...specTimes(report), ...scenarioTimes(each)].sort((a, b) => b.seconds - a.seconds).slice(0, NAMED);
    return `${what} took ${seconds.toFixed(0)} s; the longest: ${named.map((t) => `${t.name} ${t.seconds.toFixed(0)}`).join(', ')}`;
  });

/** From the report of the specs. */
const specTimes = (report) =>
  (report?.testResults ?? []).map((f) => ({
    name: relative(folder, f.name),
    seconds: (f.endTime - f.startTime) / 1000,
  }));

/** From the result of the scenarios; the healing is part of its time. */
const scenarioTimes = (each = []) =>
  each.map(({ name, seconds, healedSeconds }) => ({ name, seconds: seconds + healedSeconds }));
