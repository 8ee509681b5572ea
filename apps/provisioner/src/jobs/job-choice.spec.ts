import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { assignByRendezvous, type Entry } from '#bus';
import type { JobRecord } from '#contracts';
import { job } from '../testing/records.js';
import { chooseJobs, SECOND_CHOICE_MS, STANDBY_MS, type ChoiceInput } from './job-choice.js';

const entry = (id: string, revision: number, more: Partial<JobRecord> = {}): Entry<JobRecord> => ({
  key: id,
  value: job(id, more),
  revision,
});
const sut = (jobs: Entry<JobRecord>[], more: Partial<ChoiceInput> = {}) =>
  chooseJobs({ jobs, me: 'p1', live: ['p1'], mine: new Set(), seenAt: new Map(), now: 0, parallel: 4, ...more });

describe('which jobs a worker goes for', () => {
  it('takes them in the order in which they were written, as many as there is room', () => {
    const jobs = [entry('c', 9), entry('a', 2), entry('b', 5), entry('r', 1, { status: 'Running' })];
    expect(sut(jobs, { parallel: 3, mine: new Set(['r']) }).take).toEqual(['a', 'b']);
  });

  it('leaves a job alone from whose nodes workloads have still to move, and takes the next in its place', () => {
    const jobs = [entry('forced', 1, { moving: ['db'] }), entry('next', 2)];
    expect(sut(jobs, { parallel: 1 }).take).toEqual(['next']);
    expect(sut([entry('forced', 1, { moving: [] })]).take).toEqual(['forced']);
  });

  it('never lets a recovery wait for other jobs', () => {
    const running = [1, 2, 3, 4].map((n) => entry(`r${n}`, n, { status: 'Running' }));
    const choice = sut([...running, entry('x', 8), entry('rec', 9, { kind: 'recover' })], {
      mine: new Set(running.map((r) => r.key)),
    });
    expect(choice.take).toEqual(['rec']);
  });

  it('leaves a job to the worker that it is preferred for, and takes it when that one does not', () => {
    const id = ['j1', 'j2', 'j3', 'j4', 'j5', 'j6'].find((j) => assignByRendezvous(['p1', 'p2'], j) === 'p2') ?? '';
    const at = (now: number) => sut([entry(id, 1)], { live: ['p1', 'p2'], seenAt: new Map([[id, 0]]), now });
    expect(at(0)).toEqual({ take: [], standby: [], wakeIn: SECOND_CHOICE_MS });
    expect(at(SECOND_CHOICE_MS).take).toEqual([id]);
  });

  it('stands by for a job that runs elsewhere, after a moment', () => {
    const running = entry('r', 1, { status: 'Running', worker: 'p2' });
    const at = (now: number, mine: string[] = []) =>
      sut([running], { seenAt: new Map([['r', 0]]), now, mine: new Set(mine) });
    expect(at(0)).toEqual({ take: [], standby: [], wakeIn: STANDBY_MS });
    expect(at(STANDBY_MS).standby).toEqual(['r']);
    expect(at(STANDBY_MS, ['r']).standby).toEqual([]);
  });

  it('of all live workers exactly one is the first to take a job', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }),
        fc.string(),
        (live, id) => {
          const takers = live.filter((me) => sut([entry(id, 1)], { me, live }).take.length === 1);
          expect(takers).toHaveLength(1);
        },
      ),
    );
  });
});
