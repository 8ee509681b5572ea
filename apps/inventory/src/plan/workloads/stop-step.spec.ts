import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { StopOwed, WorkloadRecord } from '#contracts';
import { aWorkload } from '../../testing/records.js';
import { STILL_RUNS_MS, stopStep, type StopFacts } from './stop-step.js';

const owed: StopOwed = { cause: 'put', attempt: 0 };
const db = (o: Partial<WorkloadRecord> = {}): WorkloadRecord =>
  aWorkload('db', { desired: 'stopped', assignment: { node: 'a', generation: 2 }, generation: 2, stop: owed, ...o });
const foreign = { recovery: { driver: 'event' as const, spec: {} } };
const { stop: _stop, ...readBack } = db();
const runs = { workloads: [{ name: 'db', generation: 2 }] };
const idle = { workloads: [] };
const leaves = db({
  ...{ desired: 'running', move: { cause: 'start-failed', from: 'a', to: 'b' } },
  stop: { cause: 'move:start-failed', attempt: 1, why: 'No space left on device' },
});
const clear = { isAbsentLongEnough: false, isUngated: false };
const gone = { workload: leaves, report: idle, isAbsentLongEnough: true, isUngated: false };

describe('the next step towards a stop', () => {
  it.each<[string, Partial<StopFacts>, ReturnType<typeof stopStep>]>([
    ['is the order, once its node speaks', { report: runs }, 'give'],
    ['is the order also where nothing is seen of it: a start may be on its way', { report: idle }, 'give'],
    ['is none while its node is silent', { report: undefined }, 'wait'],
    ['is to look at the job that has it', { workload: db({ stop: { ...owed, job: 'j' } }), report: runs }, 'follow'],
    [
      'waits after a failure',
      { workload: db({ stop: { ...owed, attempt: 2 } }), report: runs, sinceFailureMs: 1999 },
      'wait',
    ],
    [
      'is another try then',
      { workload: db({ stop: { ...owed, attempt: 2 } }), report: runs, sinceFailureMs: 2000 },
      'give',
    ],
    ['is none when it was read back', { workload: readBack, report: idle }, 'done'],
    [
      'is none for a report that was on its way',
      { workload: readBack, report: runs, seenForMs: STILL_RUNS_MS - 1 },
      'done',
    ],
    ['is a new order when it runs all the same', { workload: readBack, report: runs, seenForMs: STILL_RUNS_MS }, 'owe'],
    ['is to wait for whoever runs it elsewhere', { workload: db(foreign), report: runs }, 'wait'],
    ['is to believe its node then', { workload: db(foreign), report: idle }, 'read-back'],
    ['is to wait where its node cannot say', { workload: db(foreign), report: {} }, 'wait'],
    ['is to believe its node where the stop of what leaves has failed, and nothing runs there', gone, 'read-back'],
    ['is to wait for looks that began after its gate was shut', { ...gone, isAbsentLongEnough: false }, 'wait'],
    ['is the stop itself where its node may start it without asking', { ...gone, isUngated: true }, 'wait'],
    ['is the stop itself before that has failed', { ...gone, workload: { ...leaves, stop: owed } }, 'give'],
    [
      'is the stop itself where it shall not run at all: its node is to have read the unit back',
      { ...gone, workload: db({ stop: { ...owed, attempt: 1 } }) },
      'wait',
    ],
  ])('%s', (_name, o, step) => {
    expect(
      stopStep({ ...{ workload: db(), report: undefined, seenForMs: 0, sinceFailureMs: 0 }, ...clear, ...o }),
    ).toBe(step);
  });

  it('never calls an owed stop done, and never touches what shall run', () => {
    const facts = fc.record({
      desired: fc.constantFrom('running' as const, 'stopped' as const),
      stop: fc.option(fc.record({ cause: fc.constant('put'), attempt: fc.nat(9) }), { nil: undefined }),
      move: fc.constantFrom(undefined, { cause: 'drain', from: 'a', to: 'b' }),
      driver: fc.constantFrom('ansible' as const, 'event' as const),
      report: fc.constantFrom(undefined, {}, idle, runs),
      seenForMs: fc.nat(9000),
      sinceFailureMs: fc.nat(90_000),
      isAbsentLongEnough: fc.boolean(),
      isUngated: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, ({ desired, stop, move, driver, ...f }) => {
        const { stop: _none, ...base } = db({ desired, recovery: { driver, spec: {} } });
        const workload = { ...base, ...(stop !== undefined && { stop }), ...(move !== undefined && { move }) };
        const step = stopStep({ workload, ...f });
        // What shall run is stopped only where it is to leave its node.
        if (desired === 'running' && (move === undefined || stop === undefined)) expect(step).toBe('done');
        else if (stop !== undefined) expect(step).not.toBe('done');
        if (step === 'read-back') expect(f.report).toBe(idle);
      }),
    );
  });
});
