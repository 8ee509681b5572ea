/** More files than this that fail are no matter of a busy machine: none of them is run again. */
const AT_MOST = 6;
/** A file has to pass so often in a row, alone. */
const TIMES = 2;

const failed = (file) => file.status === 'failed';
const names = (report) => report.testResults.filter(failed).map((f) => f.name);

/**
 * Eight spec files share two cores, and real processes have deadlines of their own. Files that failed are run again, one
 * after the other, twice: what passes both times is *unsteady*. It counts as passed, and its name stands in the last
 * lines of the run, since the wait that is too short, in the spec or in what it tests, is a fault that is to be found.
 *
 * @param report what came of the first run ({@link file://./report.mjs})
 * @param run runs one of its files alone, resolves with the report of that
 * @returns the report with the files that are unsteady as their later run left them, and their names
 */
export async function runAgain(report, run) {
  const again = names(report);
  if (again.length === 0 || again.length > AT_MOST) return { report, unsteady: [] };
  const later = new Map();
  const lost = new Set();
  for (let i = 0; i < TIMES; i++)
    for (const file of again) {
      if (lost.has(file)) continue;
      const alone = (await run(file))?.testResults ?? [];
      const found = alone.find((f) => f.name === file);
      // Also what belongs to no file, such as a worker that died.
      if (found === undefined || alone.some(failed)) lost.add(file);
      else later.set(file, found);
    }
  const unsteady = again.filter((file) => !lost.has(file));
  const testResults = report.testResults.map((f) => (unsteady.includes(f.name) ? later.get(f.name) : f));
  return { report: { ...report, ...counts(testResults), testResults }, unsteady };
}

/**
 * What came of a run, after another of the files that failed in it. A bad end that no file explains stays one: of the
 * first run the files that are unsteady do not excuse it, and where a file alone ends so, it has not passed.
 *
 * @param first exit code and report of the first run
 * @param run runs one of its files alone, resolves with the same of that
 */
export async function afterAll(first, run) {
  const { report, unsteady } = await runAgain(first.report, async (file) => {
    const alone = await run(file);
    return isUnexplained(alone) ? undefined : alone.report;
  });
  const excused = unsteady.length > 0 && !report.testResults.some(failed) && !isUnexplained(first);
  return { code: excused ? 0 : first.code, report, unsteady };
}

/** A file that failed is exit code 1, and nothing else. */
const isUnexplained = ({ code, report }) =>
  code !== 0 && (code !== 1 || report === undefined || !report.testResults.some(failed));

/** A file that failed without a test of it is a failure, too: it could not be loaded, or left something open. */
export function counts(testResults) {
  const of = (status) => testResults.flatMap((f) => f.assertionResults).filter((t) => t.status === status).length;
  return {
    numPassedTests: of('passed'),
    numFailedTests: of('failed'),
    numSkippedTests: of('skipped'),
    numRuntimeErrorTestSuites: testResults.filter(
      (f) => failed(f) && f.assertionResults.every((t) => t.status !== 'failed'),
    ).length,
  };
}
