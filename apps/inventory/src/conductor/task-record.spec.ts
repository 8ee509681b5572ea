import { describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import { Outcomes, TaskRecord } from './task-record.js';

const failed = new MusterError('TIMEOUT', 'no answer');
const plan = { name: 'a', watches: [], periodMs: 1000, severity: 'warning' } as const;

describe('what has become of the parts of a run', () => {
  it('is of a success not noted where nothing has failed that it could end', () => {
    const outcomes = new Outcomes(false);
    for (let n = 0; n < 1000; n++) outcomes.add({ workload: `w-${n}` });
    outcomes.add({ workload: 'w-1' }, failed);
    expect([...outcomes.byPart]).toEqual([['workload w-1', failed]]);
  });

  it('has failed where anything of a part has, before or after what did not', () => {
    const outcomes = new Outcomes(true);
    for (const error of [undefined, failed, undefined]) outcomes.add({ node: 'n-1' }, error);
    outcomes.add({ node: 'n-2' });
    expect([...outcomes.byPart]).toEqual([
      ['node n-1', failed],
      ['node n-2', undefined],
    ]);
  });

  it('ends by a success what failed in a run before', () => {
    const record = new TaskRecord(plan, { monotonicMs: () => 0, wallMs: () => 0 });
    const run = (error?: MusterError): void => {
      const outcomes = new Outcomes(record.fails);
      record.begun(1);
      outcomes.add({ workload: 'w-1' }, error);
      record.ended(outcomes);
    };
    const seen = [undefined, failed, failed, undefined, undefined].map((error) => {
      run(error);
      return [record.fails, record.view().errors];
    });
    expect(seen).toEqual([
      [false, 0],
      [true, 1],
      [true, 2],
      [false, 0],
      [false, 0],
    ]);
  });
});
