import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { folder } from '../setup/run.mjs';
import { afterAll } from './unsteady.mjs';

/** The children share our process group: an interrupt from the terminal reaches them, and we wait for their tidying up. */
export const waitOnInterrupt = () => process.on('SIGINT', () => {});

/**
 * Runs a program of ours in the project's folder, with its output on ours.
 * @returns its exit code, and what it has written to stdout where `read` asks for that
 */
export async function node(args, { read = false, env = {} } = {}) {
  const stdio = ['inherit', read ? ['inherit', 'pipe'] : 'inherit', 'inherit'];
  const ended = await execa(process.execPath, args, { cwd: folder, stdio, env, reject: false });
  const { exitCode, stdout } = ended;
  if (ended.failed && exitCode === undefined) process.stderr.write(`${String(ended.shortMessage)}\n`);
  return { code: exitCode ?? 1, text: stdout ?? '' };
}

/** A run that ended badly counts as a failure, also where it named none. */
const outcome = (code, passed, failed, skipped = 0) => ({
  passed,
  failed: failed === 0 && code !== 0 ? 1 : failed,
  skipped,
});

/**
 * Specs, by vitest with these options.
 *
 * @param again whether files that failed are run again ({@link afterAll}): for a run of many, that nobody watches
 * @returns how many passed, failed and were skipped; `report` says what came of each, `unsteady` the files that passed only when run again
 */
export async function specs(options, { env = {}, again = false } = {}) {
  const first = await vitest(options, env);
  if (first.report === undefined) return outcome(1, 0, 1);
  if (!again) return outcomeOf(first);
  const config = options.indexOf('--config');
  const kept = config < 0 ? [] : options.slice(config, config + 2);
  const { unsteady, ...after } = await afterAll(first, async (file) => {
    process.stdout.write(`specs: again, alone: ${relative(folder, file)}\n`);
    return vitest([...kept, file], env);
  });
  return { ...outcomeOf(after), unsteady: unsteady.map((f) => relative(folder, f)) };
}

const bad = (report) => report.numFailedTests + report.numRuntimeErrorTestSuites;
const outcomeOf = ({ code, report }) => ({
  ...outcome(code, report.numPassedTests, bad(report), report.numSkippedTests),
  report,
});

async function vitest(options, env) {
  const dir = mkdtempSync(join(tmpdir(), 'muster-test-'));
  const file = join(dir, 'report.json');
  const program = join('node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=./scripts/tests/report.mjs'];
  try {
    const { code } = await node([program, 'run', ...reporters, ...options], {
      env: { ...env, MUSTER_SPEC_REPORT: file },
    });
    return { code, report: JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    process.stderr.write(`specs: no result (${error.message})\n`);
    return { code: 1 };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Scenarios, or a group of them, in the lab; `text` is what was printed of them. */
export async function scenarios(...names) {
  const { code, text } = await node([join('dist', 'test', 'src', 'run-scenario.js'), ...names], { read: true });
  const counted = [...text.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  if (counted === undefined) process.stderr.write('scenarios: no result\n');
  const [passed, failed, skipped] = (counted ?? []).slice(1).map((n) => Number(n ?? 0));
  return { ...outcome(code, passed ?? 0, failed ?? 0, skipped), text };
}

/** What is unsteady, and at last `N passed, N failed` with what this machine cannot do. */
export function summary(outcomes) {
  const sum = (key) => outcomes.reduce((total, o) => total + o[key], 0);
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
  const unsteady = outcomes.flatMap((o) => o.unsteady ?? []);
  return {
    lines: [
      ...unsteady.map((file) => `unsteady: ${file} failed beside others and passed alone`),
      `${sum('passed')} passed, ${sum('failed')} failed${skipped}`,
    ],
    failed: sum('failed'),
  };
}
