import { writeFileSync } from 'node:fs';
import { counts } from './unsteady.mjs';

const ENDED = { pass: 'passed', fail: 'failed', skip: 'skipped', todo: 'skipped' };

/**
 * Writes {@link reportOf} to the file that `MUSTER_SPEC_REPORT` names: at the end, and so far after each file, for a run
 * that does not come to its end.
 */
export default class Report {
  wanted = [];
  ended = [];

  onTestRunStart(specifications) {
    this.wanted = specifications.map((s) => s.moduleId);
  }

  onTestModuleEnd(module) {
    this.ended.push(module);
    this.write(this.ended, []);
  }

  onTestRunEnd(modules, unhandled) {
    this.write(modules, unhandled);
  }

  write(modules, unhandled) {
    const file = process.env.MUSTER_SPEC_REPORT;
    if (file === undefined) throw new Error('MUSTER_SPEC_REPORT must name the file of the report');
    const tasks = modules.map((m) => m.task);
    writeFileSync(file, JSON.stringify(reportOf(tasks, unhandled, this.wanted)));
  }
}

/**
 * What came of each spec file and each of its tests. A test that a failed hook has kept from running has failed; so has a
 * file with an error that belongs to none of its tests, and one that was to run and was never begun.
 *
 * @param files Vitest's own tasks of the files that it ran
 * @param unhandled what was thrown where nobody caught it
 * @param wanted paths of the files that were to run
 */
export function reportOf(files, unhandled, wanted) {
  const paths = files.map((f) => f.filepath);
  const testResults = files.map((file) => {
    const own = unhandled.filter((e) => originOf(e, paths) === file.filepath);
    const ended = file.result?.state === 'pass' || file.result?.state === 'skip';
    const startTime = file.result?.startTime ?? 0;
    return {
      name: file.filepath,
      status: ended && own.length === 0 ? 'passed' : 'failed',
      message: [...messagesOf(file), ...own.map(textOf)].join('\n'),
      startTime,
      endTime: startTime + (file.result?.duration ?? 0),
      assertionResults: resultsOf(file, []),
    };
  });
  // Of a worker that died, say.
  for (const error of unhandled.filter((e) => originOf(e, paths) === undefined))
    testResults.push(notRun('no spec file', textOf(error)));
  // Vitest names only those that a worker has taken.
  for (const path of wanted.filter((w) => !files.some((f) => f.filepath === w)))
    testResults.push(notRun(path, 'it was never begun'));
  return { ...counts(testResults), testResults };
}

/**
 * The file that an error belongs to, of these; undefined: none. A worker runs many, and Vitest names the one that ran when
 * nobody caught it: the trace knows better where an earlier one has left what failed late.
 */
function originOf(error, paths) {
  const during = paths.find((path) => path === error.VITEST_TEST_PATH);
  const stack = error.stack ?? '';
  if (during !== undefined && stack.includes(during)) return during;
  return paths.find((path) => stack.includes(path)) ?? during;
}

const notRun = (name, message) => ({
  name,
  status: 'failed',
  message,
  startTime: 0,
  endTime: 0,
  assertionResults: [],
});

const textOf = (error) => error.stack ?? error.message ?? String(error);
const errorsOf = (task) => (task.result?.errors ?? []).map(textOf);
/** Of the file and its groups: hooks that failed, what it left open, why it could not be loaded. */
const messagesOf = (suite) => [
  ...errorsOf(suite),
  ...suite.tasks.filter((t) => t.type === 'suite').flatMap((t) => messagesOf(t)),
];

/** @param failures of the hooks around them */
function resultsOf(suite, failures) {
  const around = [...failures, ...errorsOf(suite)];
  return suite.tasks.flatMap((task) => {
    if (task.type === 'suite') return resultsOf(task, around);
    const status = ENDED[task.result?.state ?? task.mode] ?? 'failed';
    const kept = status === 'skipped' && around.length > 0 && task.mode !== 'todo';
    return [
      {
        fullName: fullNameOf(task),
        status: kept ? 'failed' : status,
        failureMessages: kept ? around : errorsOf(task),
      },
    ];
  });
}

const fullNameOf = (task) =>
  task.suite === undefined || task.suite === task.file ? task.name : `${fullNameOf(task.suite)} ${task.name}`;
