import { describe, expect, it } from 'vitest';

interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[];
}
type Counted = Report & { numPassedTests: number; numFailedTests: number; numRuntimeErrorTestSuites: number };
interface Ended {
  code: number;
  report?: Report;
}
const { runAgain, afterAll } = (await import('../../scripts/tests/unsteady.mjs' as string)) as {
  runAgain: (
    report: Report,
    run: (file: string) => Promise<Report | undefined>,
  ) => Promise<{ report: Counted; unsteady: string[] }>;
  afterAll: (
    first: Required<Ended>,
    run: (file: string) => Promise<Ended>,
  ) => Promise<{ code: number; report: Counted; unsteady: string[] }>;
};

/** A file by how its tests ended; without any it ended before its first. */
const file = (name: string, ...ended: ('passed' | 'failed')[]): Report['testResults'][number] => ({
  name,
  status: ended.length > 0 && ended.every((e) => e === 'passed') ? 'passed' : 'failed',
  assertionResults: ended.map((status) => ({ status })),
});

describe('specs that failed beside others', () => {
  /** What each file does when it is run again, in turn; then nothing more is told of it. */
  const played = (later: Record<string, Report['testResults'][number][]>) => {
    const asked: string[] = [];
    return {
      asked,
      run: async (name: string): Promise<Report | undefined> => {
        asked.push(name);
        const next = later[name]?.shift();
        return next && { testResults: [next] };
      },
    };
  };

  it('are unsteady when they pass twice alone, and count as passed', async () => {
    const { asked, run } = played({ b: [file('b', 'passed', 'passed'), file('b', 'passed', 'passed')] });
    const { report, unsteady } = await runAgain(
      { testResults: [file('a', 'passed'), file('b', 'passed', 'failed')] },
      run,
    );
    expect(asked).toEqual(['b', 'b']);
    expect(unsteady).toEqual(['b']);
    expect(report).toMatchObject({ numPassedTests: 3, numFailedTests: 0, numRuntimeErrorTestSuites: 0 });
  });

  it('stay failed when one of both fails, or ends without a word', async () => {
    const { run } = played({ b: [file('b', 'passed'), file('b', 'failed')], c: [file('c', 'passed')] });
    const { report, unsteady } = await runAgain({ testResults: [file('b', 'failed'), file('c')] }, run);
    expect(unsteady).toEqual([]);
    expect(report).toMatchObject({ numPassedTests: 0, numFailedTests: 1, numRuntimeErrorTestSuites: 1 });
  });

  it('stay failed when something else goes wrong beside them', async () => {
    const run = async (): Promise<Report> => ({ testResults: [file('b', 'passed'), file('no spec file')] });
    expect((await runAgain({ testResults: [file('b', 'failed')] }, run)).unsteady).toEqual([]);
  });

  it('are not run again when they are many', async () => {
    const { asked, run } = played({});
    const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => file(name, 'failed'));
    expect((await runAgain({ testResults: many }, run)).unsteady).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('are not run again where none failed', async () => {
    const { asked, run } = played({});
    await runAgain({ testResults: [file('a', 'passed')] }, run);
    expect(asked).toEqual([]);
  });
});

describe('the exit code of a run whose files were run again', () => {
  const first = { code: 1, report: { testResults: [file('a', 'passed'), file('b', 'failed')] } };
  const passing = { code: 0, report: { testResults: [file('b', 'passed')] } };
  const after = (of: Required<Ended>, alone: Ended) => afterAll(of, () => Promise.resolve(alone));

  it('is 0 where the files that failed explain it, and are unsteady', async () => {
    expect(await after(first, passing)).toMatchObject({ code: 0, unsteady: ['b'] });
  });

  it('stays where no file that failed explains it', async () => {
    expect(await after({ ...first, code: 134 }, passing)).toMatchObject({ code: 134, unsteady: ['b'] });
    const clean = { code: 1, report: { testResults: [file('a', 'passed')] } };
    expect(await after(clean, passing)).toMatchObject({ code: 1, unsteady: [] });
  });

  it('stays where a file alone passes and its run ends badly all the same', async () => {
    expect(await after(first, { ...passing, code: 1 })).toMatchObject({ code: 1, unsteady: [] });
    expect(await after(first, { code: 1 })).toMatchObject({ code: 1, unsteady: [] });
  });
});
