import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { folder } from '../setup/run.mjs';
import { afterAll } from './unsteady.mjs';

const running = new Set();
let asked;

/** The signal that has asked for an end; undefined: none has. */
export const interruptedBy = () => asked;

/**
 * From now on SIGINT and SIGTERM end no more than what runs: we wait for its tidying up. The children share our process
 * group, so an interrupt from the terminal reaches them; whoever ends us by SIGTERM has told us alone.
 */
export function waitOnInterrupt() {
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => {
      asked ??= signal;
      if (signal === 'SIGTERM') for (const child of running) child.kill('SIGINT');
    });
}

/**
 * Runs a program of ours in the project's folder, with its output on ours.
 * @returns its exit code, and what it has written to stdout where `read` asks for that
 */
export async function node(args, { read = false, env = {} } = {}) {
  const stdio = ['inherit', read ? ['inherit', 'pipe'] : 'inherit', 'inherit'];
  const child = execa(process.execPath, args, { cwd: folder, stdio, env, reject: false });
  running.add(child);
  const ended = await child.finally(() => running.delete(child));
  const { exitCode, stdout } = ended;
  if (ended.failed && exitCode === undefined) process.stderr.write(`${String(ended.shortMessage)}\n`);
  return { code: exitCode ?? 1, text: stdout ?? '' };
}

/** What a program says as JSON in its last line; else that line, as `said`. */
export function lastSaid(text) {
  const last = text.trim().split('\n').at(-1) ?? '';
  return last.startsWith('{') ? JSON.parse(last) : { said: last };
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

/** Scenarios, or a group of them, in the lab; `each` is what came of those that were run, also where not all were. */
export async function scenarios(...names) {
  const dir = mkdtempSync(join(tmpdir(), 'muster-scenarios-'));
  const file = join(dir, 'results.json');
  try {
    const { code } = await node([join('dist', 'test', 'src', 'run-scenario.js'), ...names, '--out', file]);
    const { passed, failed, skipped, scenarios: each } = JSON.parse(readFileSync(file, 'utf8'));
    return { ...outcome(code, passed, failed, skipped), each };
  } catch (error) {
    process.stderr.write(`scenarios: no result (${error.message})\n`);
    return { ...outcome(1, 0, 1), each: [] };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
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
