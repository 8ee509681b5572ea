import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#bus';
import { MusterError, type NodeProgress } from '#contracts';
import { RunProgress } from '../ansible/run-progress.js';
import { ProgressWriter, writePeriod } from './progress-writer.js';

const at = (task: string, done = 0): Record<string, NodeProgress> => ({
  n1: { step: 'site', task, done, failed: false },
});

describe('the progress of a job', () => {
  let written: Record<string, NodeProgress>[];
  let answer: () => Promise<void>;
  let errors: MusterError[];
  let sut: ProgressWriter;
  beforeEach(() => {
    vi.useFakeTimers();
    written = [];
    errors = [];
    answer = () => Promise.resolve();
    const write = (p: Record<string, NodeProgress>): Promise<void> => {
      written.push(p);
      return answer();
    };
    sut = new ProgressWriter(systemClock, 1, write, (e) => errors.push(e));
  });
  afterEach(async () => {
    await sut.stop();
    vi.useRealTimers();
  });

  it('is written once a second, the latest of it, and not at all while it is as it was', async () => {
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toEqual([]);
    for (let i = 0; i < 50; i++) sut.set(at(`task ${i}`, i));
    await vi.advanceTimersByTimeAsync(999);
    expect(written).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toEqual([at('task 49', 49)]);
    sut.set(at('task 49', 50));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toHaveLength(2);
  });

  it('waits for a write that is slow, and tells again what was not written', async () => {
    let fail: (e: Error) => void = () => undefined;
    answer = () => new Promise((_resolve, reject) => (fail = reject));
    sut.set(at('a'));
    await vi.advanceTimersByTimeAsync(1_000);
    sut.set(at('b'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(written).toEqual([at('a')]);
    fail(new MusterError('TIMEOUT', 'no answer'));
    answer = () => Promise.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(errors.map((e) => e.code)).toEqual(['TIMEOUT']);
    expect(written).toEqual([at('a'), at('b')]);
  });

  it('costs a large job no more than a hundred nodes’ worth in a second, and a long name its rest', async () => {
    expect([1, 100, 5_000].map(writePeriod)).toEqual([1_000, 1_000, 50_000]);
    sut.set(at('x'.repeat(1_000)));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written[0]?.['n1']?.task).toHaveLength(120);
  });
});

describe('how far a run is', () => {
  it('is the task that runs, how many have ended, and whether one failed that counts', () => {
    const sut = new RunProgress();
    const task = (host: string, name: string, status: string, ignored = false) =>
      JSON.stringify({ event: 'task', host, task: name, status, ignored });
    const start = (host: string, name: string) => JSON.stringify({ event: 'start', host, task: name });
    sut.take([start('a', 'one'), task('a', 'one', 'ok'), start('a', 'two'), start('b', 'one'), 'half a li']);
    expect(Object.fromEntries(sut.hosts)).toEqual({
      a: { task: 'two', done: 1, failed: false },
      b: { task: 'one', done: 0, failed: false },
    });
    sut.take([task('a', 'two', 'failed', true), task('b', 'one', 'unreachable'), task('b', 'rescue', 'ok')]);
    expect(Object.fromEntries(sut.hosts)).toEqual({
      a: { task: 'two', done: 2, failed: false },
      b: { task: 'rescue', done: 2, failed: true },
    });
  });
});
