import { relative } from 'node:path';
import { folder } from '../setup/run.mjs';

/** So many of each are named. */
const NAMED = 8;

/**
 * Where the time of `npm test` went: a line for each step, with the longest of its specs or scenarios.
 *
 * @param times what each step answered, with `what` it is and how many `seconds` it took in all
 */
export const slowest = (times) =>
  times.map(({ what, seconds, report, each }) => {
    const named = [...specTimes(report), ...scenarioTimes(each)].sort((a, b) => b.seconds - a.seconds).slice(0, NAMED);
    const longest = named.map((t) => `${t.name} ${t.seconds.toFixed(0)}`).join(', ');
    return `${what} took ${seconds.toFixed(0)} s${longest === '' ? '' : `; the longest: ${longest}`}`;
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
