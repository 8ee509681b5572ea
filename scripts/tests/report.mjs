import { writeFileSync } from 'node:fs';
import { counts } from './unsteady.mjs';

const ENDED = { pass: 'passed', fail: 'failed', skip: 'skipped', todo: 'skipped' };

/**
 * What came of each spec file and each of its tests, written to the file that `MUSTER_SPEC_REPORT` names. A test that a
 * failed hook has kept from running has failed; so has a file with an error that belongs to none of its tests.
 */
export default class Report {
  onTestRunEnd(modules, unhandled) {
    const testResults = modules.map(({ task }) => {
      const own = unhandled.filter((e) => e.VITEST_TEST_PATH === task.filepath);
      const assertionResults = resultsOf(task, []);
      const messages = [...messagesOf(task), ...own.map(textOf)];
      const failed = task.result?.state !== 'pass' && task.result?.state !== 'skip';
      return {
        name: task.filepath,
        status: failed || own.length > 0 ? 'failed' : 'passed',
        message: messages.join('\n'),
        startTime: task.result?.startTime ?? 0,
        endTime: (task.result?.startTime ?? 0) + (task.result?.duration ?? 0),
        assertionResults,
      };
    });
    // Of a worker that died, say.
    for (const error of unhandled.filter((e) => !testResults.some((f) => f.name === e.VITEST_TEST_PATH)))
      testResults.push({
        name: 'no spec file',
        status: 'failed',
        message: textOf(error),
        ...NO_TIME,
        assertionResults: [],
      });
    const file = process.env.MUSTER_SPEC_REPORT;
    if (file === undefined) throw new Error('MUSTER_SPEC_REPORT must name the file of the report');
    writeFileSync(file, JSON.stringify({ ...counts(testResults), testResults }));
  }
}

const NO_TIME = { startTime: 0, endTime: 0 };
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
