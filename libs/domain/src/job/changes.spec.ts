import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { isEndedJob, JobStatuses, waitsForMoves, type JobRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import {
  jobAfter,
  jobBeginnings,
  jobChanges,
  jobOfLostRecord,
  neverBegan,
  newJob,
  type JobEvent,
  type JobOrder,
} from './changes.js';

const order = (o: Partial<JobOrder> = {}): JobOrder => ({
  ...{
    id: 'job-1',
    kind: 'maintenance',
    nodes: ['a', 'b'],
    desc: '',
    extraVars: {},
    task: '',
    by: 'ann',
    createdAt: 5,
  },
  ...o,
});
const after = (j: JobRecord, e: JobEvent): JobRecord => {
  const next = jobAfter(j, e);
  if (next === undefined) throw new Error(`${e.kind} is refused`);
  return next;
};
const at = 9;
const waiting = newJob(order());
const taken = (j: JobRecord, worker: string): JobRecord => after(j, { kind: 'taken', worker, seen: j, at });
const running = taken(waiting, 'w1');
const end = (j: JobRecord, worked = true) => ({
  by: { worker: j.worker ?? '', generation: j.generation },
  results: { a: { ok: false, step: 'site' } },
  worked,
  at,
});
const failed = (j: JobRecord, worked: boolean): JobRecord =>
  after(j, { kind: 'failed', error: 'x', ...end(j, worked) });

describe('a job', () => {
  it('ends once, and is changed by its table only, whatever is tried', () => {
    const step = fc.record({
      op: fc.nat(7),
      worker: fc.constantFrom('w1', 'w2'),
      behind: fc.nat(1),
      worked: fc.boolean(),
    });
    const orders = fc.constantFrom(order(), order({ moving: ['db'] }));
    const reached = new Set<string>();
    fc.assert(
      fc.property(orders, fc.array(step, { maxLength: 8 }), (o, steps) => {
        let j = newJob(o);
        for (const s of steps) {
          const generation = j.generation - s.behind;
          const by = { worker: s.worker, generation };
          const came = { by, results: {}, worked: s.worked, at };
          const events: JobEvent[] = [
            { kind: 'taken', worker: s.worker, seen: { status: j.status, generation }, at },
            { kind: 'completed', ...came },
            { kind: 'failed', error: 'x', ...came },
            { kind: 'refused', error: 'x', at },
            { kind: 'cancelled', by: 'ann', at },
            { kind: 'called-back', by: 'muster', at },
            { kind: 'called-off', by: 'muster', why: 'x', at },
            { kind: 'superseded', why: 'x', at },
          ];
          const event = events[s.op];
          const next = event && jobAfter(j, event);
          if (event === undefined || next === undefined) continue;
          reached.add(`${j.status} ${event.kind}`);
          const row = jobChanges[event.kind];
          // What the table says of it is so.
          expect(next.status).toBe(row.statuses[j.status]);
          expect(next.generation - j.generation).toBe(row.generation === 'raised' ? 1 : 0);
          // It ends once: nobody begins it again, and its nodes are not touched any more.
          expect(isEndedJob(j)).toBe(false);
          expect(next.endedAt !== undefined).toBe(isEndedJob(next));
          if (isEndedJob(next)) expect(next).not.toHaveProperty('progress');
          // A worker of before writes nothing, nor does one that saw it as it was before.
          if (event.kind === 'completed' || event.kind === 'failed')
            expect(by).toEqual({ worker: j.worker, generation: j.generation });
          if (event.kind === 'taken') expect(s.behind).toBe(0);
          // What no worker took, nobody has begun.
          if (j.worker === undefined && isEndedJob(next)) expect(neverBegan(next)).toBe(true);
          // Who asks for its end first is kept.
          if (j.cancel !== undefined) expect(next.cancel).toEqual(j.cancel);
          j = next;
        }
      }),
      { numRuns: runs(2000) },
    );
    // None of it is there for nothing.
    const rows = Object.entries(jobChanges).flatMap(([kind, c]) => Object.keys(c.statuses).map((s) => `${s} ${kind}`));
    expect([...reached].sort()).toEqual(rows.sort());
  });

  it.each(JobStatuses)('that is %s can come to be', (status) => {
    const given = Object.values(jobChanges).flatMap((c) => Object.values(c.statuses));
    expect([...Object.values(jobBeginnings), ...given]).toContain(status);
  });

  it('that waits for moves is called off before anything happened; one that workers may take is not', () => {
    const off: JobEvent = { kind: 'called-off', by: 'muster', why: 'a was powered off', at };
    const moving = newJob(order({ moving: ['db'] }));
    expect(waitsForMoves(moving)).toBe(true);
    expect(after(moving, off)).toMatchObject({
      status: 'Errored',
      error: 'a was powered off',
      cancel: { by: 'muster' },
    });
    expect(jobAfter(newJob(order({ moving: [] })), off)).toBeUndefined();
    expect(jobAfter(after(moving, { kind: 'called-back', by: 'ann', at }), off)).toBeUndefined();
  });

  it('that runs is told to end by its worker, and goes on until then', () => {
    for (const kind of ['cancelled', 'called-back'] as const)
      expect(after(running, { kind, by: 'ann', at })).toEqual({ ...running, cancel: { by: 'ann', at } });
  });

  it('that waits is ended by an operator, and by the worker that would take it once the system calls it back', () => {
    const cancelled = after(waiting, { kind: 'cancelled', by: 'ann', at });
    expect(cancelled).toMatchObject({ status: 'Errored', error: 'cancelled by ann before it began', endedAt: at });
    const back = after(waiting, { kind: 'called-back', by: 'muster', at });
    expect(back.status).toBe('Queued');
    const refused = after(back, { kind: 'refused', error: 'cancelled by muster', at });
    expect([cancelled, refused].map(neverBegan)).toEqual([true, true]);
  });

  it('that a worker has taken is refused by none, also where it was taken in the same moment', () => {
    expect(jobAfter(running, { kind: 'refused', error: 'x', at })).toBeUndefined();
    const refused = after(waiting, { kind: 'refused', error: 'x', outranked: 7, at });
    expect(refused).toMatchObject({ status: 'Errored', outranked: 7, generation: 1 });
    expect(jobAfter(refused, { kind: 'taken', worker: 'w1', seen: waiting, at })).toBeUndefined();
  });
});

describe('a job that was taken over', () => {
  const over = taken({ ...running, progress: {} }, 'w2');

  it('is no longer that of its first worker, be it named the same', () => {
    expect(over).toMatchObject({ worker: 'w2', generation: 2, startedAt: running.startedAt });
    expect(over).not.toHaveProperty('progress');
    expect(jobAfter(over, { kind: 'completed', ...end(running) })).toBeUndefined();
    expect(jobAfter(taken(running, 'w1'), { kind: 'failed', error: 'x', ...end(running) })).toBeUndefined();
    expect(after(over, { kind: 'completed', ...end(over) }).status).toBe('Complete');
  });

  it('is taken once by those that saw it under its first worker', () => {
    const take: JobEvent = { kind: 'taken', worker: 'w3', seen: running, at };
    expect(jobAfter(running, take)).toBeDefined();
    expect(jobAfter(over, take)).toBeUndefined();
  });
});

describe('a job that failed', () => {
  it('has never begun where its only worker found that it cannot be carried out', () => {
    expect(neverBegan(failed(running, false))).toBe(true);
    expect(neverBegan(failed(running, true))).toBe(false);
  });

  it('may have begun where another worker had it before: nobody knows how far that one came', () => {
    expect(neverBegan(failed(taken(running, 'w2'), false))).toBe(false);
  });

  it('since its record was lost counts as one that had begun', () => {
    const lost = jobOfLostRecord(order(), 'lost', at);
    expect(neverBegan(lost)).toBe(false);
    expect(lost).toMatchObject({ status: 'Errored', startedAt: 5, endedAt: at, results: { a: { ok: false } } });
    expect(jobAfter(lost, { kind: 'taken', worker: 'w1', seen: lost, at })).toBeUndefined();
  });

  it('since its store was put back is run by nobody, and waits for nothing', () => {
    const moving = newJob(order({ moving: ['db'] }));
    for (const j of [moving, { ...running, progress: {} }]) {
      const over = after(j, { kind: 'superseded', why: 'The store was put back', at });
      expect(over).toMatchObject({ status: 'Errored', error: 'The store was put back: ask for it anew' });
      expect(Object.keys(over)).not.toEqual(expect.arrayContaining(['moving']));
      expect(over).not.toHaveProperty('progress');
    }
  });
});

it('one that runs, or has succeeded, has not "never begun"', () => {
  expect([waiting, running, after(running, { kind: 'completed', ...end(running, false) })].map(neverBegan)).toEqual([
    false,
    false,
    false,
  ]);
});
