import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';

/** As far as a report needs them. */
interface Task {
  type: 'suite' | 'test';
  name: string;
  mode: 'run' | 'skip';
  filepath?: string;
  file?: Task;
  suite?: Task;
  tasks?: Task[];
  result?: { state: string; startTime?: number; duration?: number; errors?: { message: string; stack?: string }[] };
}
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numSkippedTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}
const { reportOf } = (await import('../../scripts/tests/report.mjs' as string)) as {
  reportOf: (
    files: Task[],
    unhandled: { message: string; stack?: string; VITEST_TEST_PATH?: string }[],
    wanted: readonly string[],
  ) => Report;
};
const { OpenHandles } = (await import('../../scripts/tests/open-handles.mjs' as string)) as {
  OpenHandles: new () => { left: (graceMs: number) => Promise<string | undefined> };
};

const test = (name: string, state?: string, why?: string): Task => ({
  type: 'test',
  name,
  mode: state === 'skip' ? 'skip' : 'run',
  ...(state !== undefined && { result: { state, errors: why === undefined ? [] : [{ message: why }] } }),
});

/** With who belongs to whom, as Vitest has it: a file is a suite that is its own file. */
function suite(name: string, tasks: Task[], state?: string, why?: string): Task {
  const whole = { ...test(name, state, why), type: 'suite' as const, mode: 'run' as const, tasks };
  for (const t of tasks) t.suite = whole;
  return whole;
}
function file(name: string, tasks: Task[], state?: string, why?: string): Task {
  const whole = suite(name, tasks, state, why);
  whole.filepath = name;
  const own = (t: Task): void => {
    t.file = whole;
    for (const inner of t.tasks ?? []) own(inner);
  };
  own(whole);
  return whole;
}
const numbers = (r: Report): number[] => [r.numPassedTests, r.numFailedTests, r.numRuntimeErrorTestSuites];

describe('the report of the specs', () => {
  it('counts the tests of each file, by their whole names', () => {
    const a = file(
      'a',
      [suite('a limit', [test('holds', 'pass'), test('is told', 'fail', 'too late')], 'fail')],
      'fail',
    );
    const report = reportOf([a, file('b', [test('stands alone', 'pass'), test('waits', 'skip')], 'pass')], [], []);
    expect([...numbers(report), report.numSkippedTests]).toEqual([2, 1, 0, 1]);
    expect(report.testResults.map((f) => f.status)).toEqual(['failed', 'passed']);
    expect(report.testResults.flatMap((f) => f.assertionResults)).toEqual([
      { fullName: 'a limit holds', status: 'passed', failureMessages: [] },
      { fullName: 'a limit is told', status: 'failed', failureMessages: ['too late'] },
      { fullName: 'stands alone', status: 'passed', failureMessages: [] },
      { fullName: 'waits', status: 'skipped', failureMessages: [] },
    ]);
  });

  it('fails the tests that a failed hook has kept from running', () => {
    const report = reportOf(
      [file('a', [suite('in vain', [test('one', 'skip'), test('two', 'skip')], 'fail', 'no server')], 'fail')],
      [],
      [],
    );
    expect(numbers(report)).toEqual([0, 2, 0]);
    expect(report.testResults[0]?.assertionResults[0]?.failureMessages).toEqual(['no server']);
    expect(report.testResults[0]?.message).toBe('no server');
  });

  it('fails a file that could not be loaded, left something open, or was never run to its end', () => {
    const files = [file('a', [], 'fail', 'no such module'), file('b', [test('one', 'pass')], 'fail', 'still open')];
    expect(numbers(reportOf(files, [], []))).toEqual([1, 0, 2]);
    expect(numbers(reportOf([file('c', [test('one')])], [], []))).toEqual([0, 1, 0]);
  });

  it('fails the file while which something was thrown that nobody caught, and the run where there is none', () => {
    const files = [file('a', [test('one', 'pass')], 'pass'), file('b', [test('two', 'pass')], 'pass')];
    const unhandled = [{ message: 'nobody', VITEST_TEST_PATH: 'b' }, { message: 'a worker died' }];
    const report = reportOf(files, unhandled, ['a', 'b']);
    expect(numbers(report)).toEqual([2, 0, 2]);
    expect(report.testResults.map((f) => [f.name, f.status, f.message])).toEqual([
      ['a', 'passed', ''],
      ['b', 'failed', 'nobody'],
      ['no spec file', 'failed', 'a worker died'],
    ]);
  });

  it('lays what failed late on the file in whose trace it is, and not on the one that ran by then', () => {
    const files = ['/r/a.spec.ts', '/r/b.spec.ts'].map((name) => file(name, [test('one', 'pass')], 'pass'));
    const late = (stack: string) => [{ message: 'late', stack, VITEST_TEST_PATH: '/r/b.spec.ts' }];
    const failedOf = (stack: string): string[] =>
      reportOf(files, late(stack), [])
        .testResults.filter((f) => f.status === 'failed')
        .map((f) => f.name);
    expect(failedOf('late\n at f (/r/x.ts:1:1)\n at Timeout (file:///r/a.spec.ts:3:5)')).toEqual(['/r/a.spec.ts']);
    expect(failedOf('late\n at /r/b.spec.ts:9:9\n at /r/a.spec.ts:3:5')).toEqual(['/r/b.spec.ts']);
    expect(failedOf('late\n at f (/r/x.ts:1:1)')).toEqual(['/r/b.spec.ts']);
  });

  it('fails a file that was to run and was never begun', () => {
    const report = reportOf([file('a', [test('one', 'pass')], 'pass')], [], ['a', 'b']);
    expect(numbers(report)).toEqual([1, 0, 1]);
    expect(report.testResults.at(-1)).toMatchObject({ name: 'b', status: 'failed', message: 'it was never begun' });
  });
});

describe('what a spec file leaves open', () => {
  it('is named by its kind, and nothing once it is closed', async () => {
    const handles = new OpenHandles();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      expect(await handles.left(100)).toBe('still open 0.1 s after the last test: 1 TCPServerWrap');
    } finally {
      server.close();
    }
    expect(await handles.left(10_000)).toBeUndefined();
  });

  it('is a timer that was made there, where it is a long one', async () => {
    const handles = new OpenHandles();
    const timer = setTimeout(() => undefined, 60_000);
    try {
      const left = await handles.left(100);
      expect(left).toContain('still open 0.1 s after the last test: 1 Timeout');
      expect(left).toMatch(/setTimeout of 60000 ms\n(.*\n)*.*spec-report\.spec\.ts/);
    } finally {
      clearTimeout(timer);
    }
    expect(await handles.left(10_000)).toBeUndefined();
  });
});
