import { describe, expect, it } from 'vitest';
import { GREEN, simOutcome, specOutcome, type SpecReport } from './outcome.js';

const spec = 'apps/gate/limit.spec.ts';
const report = (o: Partial<SpecReport> = {}): SpecReport => ({
  numPassedTests: 2,
  numFailedTests: 0,
  testResults: [{ status: 'passed', message: '', assertionResults: [{ fullName: 'a limit holds', status: 'passed' }] }],
  ...o,
});

describe('the outcome of a spec', () => {
  it('is a kill by the first test that failed, with the first line of why', () => {
    const failureMessages = ['\u001b[31mError: not seen in time: \u001b[39ma limit\n    at limit.spec.ts:3'];
    const assertionResults = [
      { fullName: 'a limit holds', status: 'passed' },
      { fullName: 'a limit is told', status: 'failed', failureMessages },
    ];
    expect(
      specOutcome(
        spec,
        report({ numFailedTests: 1, testResults: [{ status: 'failed', message: '', assertionResults }] }),
      ),
    ).toEqual({
      killed: { spec, test: 'a limit is told', why: 'Error: not seen in time: a limit' },
    });
  });

  it('is green where no test failed', () => {
    expect(specOutcome(spec, report())).toEqual({ reason: GREEN });
  });

  it('is a kill where all its tests passed and the file did not', () => {
    const file = { status: 'failed', message: 'Error: still open: 1 TCPServerWrap\n    at runner.mjs:3' };
    const assertionResults = [{ fullName: 'a limit holds', status: 'passed' }];
    expect(specOutcome(spec, report({ testResults: [{ ...file, assertionResults }] }))).toEqual({
      killed: { spec, test: 'the whole file', why: 'Error: still open: 1 TCPServerWrap' },
    });
  });

  it('is no kill where the file could not be loaded, or no test of it was asked for', () => {
    expect(specOutcome(spec, report({ numPassedTests: 0 }))).toEqual({ reason: 'no specs ran' });
    const testResults = [{ status: 'failed', message: 'Error: no such module', assertionResults: [] }];
    expect(specOutcome(spec, report({ numPassedTests: 0, testResults }))).toEqual({ reason: 'no specs ran' });
  });
});

describe('the outcome of a simulation', () => {
  it('is a kill by the first history that breaks a rule', () => {
    const stdout = `began\n${JSON.stringify({ histories: 20, violations: [{ history: 7 }, { history: 3 }] })}\n`;
    expect(simOutcome('detect', 1, { stdout, stderr: '' })).toEqual({
      killed: { sim: 'detect', seed: 1, histories: 4 },
    });
    const none = JSON.stringify({ histories: 20, violations: [] });
    expect(simOutcome('detect', 1, { stdout: none, stderr: '' })).toEqual({ reason: GREEN });
  });

  it('is no kill where it did not end', () => {
    expect(simOutcome('detect', 1, { stdout: 'began\n', stderr: 'out of memory\n' })).toEqual({
      reason: 'the simulation detect ended without a result: out of memory',
    });
  });
});
