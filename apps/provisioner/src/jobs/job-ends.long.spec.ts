import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { processesWith } from '#bus/testing/processes.js';
import type { JobRecord } from '#contracts';
import { runs as timesFactor } from '#contracts/testing/chance.js';
import { quickest } from '#contracts/testing/quickest.js';
import { jobBench } from '../testing/job-bench.js';

const bench = jobBench();

describe('the job runner', () => {
  it('ends a job that takes longer than it may as after a cancel, within 2 s', async () => {
    const child = `5${Date.now()}`;
    await bench.playbooks.set('site', [`command: sleep ${child}`]);
    await bench.worker();
    let seconds = 2;
    const late = await quickest(2_000, async () => {
      // Ansible must have begun its task by then, also where it is slow.
      seconds *= 2;
      const id = await bench.submit({ timeoutMs: seconds * 1000 });
      await bench.when(id, (j) => j.status === 'Running');
      const due = performance.now() + seconds * 1000;
      while (processesWith(`sleep ${child}`).length === 0 && performance.now() < due) await pause(50);
      const begun = processesWith(`sleep ${child}`).length === 1;
      while (processesWith(`sleep ${child}`).length > 0) await pause(10);
      const ms = performance.now() - due;
      const why = `timed out after ${seconds} s`;
      expect(await bench.ended(id)).toMatchObject({
        status: 'Errored',
        error: why,
        task: 'cleanup',
        results: { n1: { ok: false, message: why } },
      });
      return begun ? ms : Infinity;
    });
    expect(late).toBeLessThan(2_000);
  });

  it('finishes the job of a provisioner that was killed in the middle, whose Ansible dies with it', async () => {
    const lock = join(bench.dataDir, `lock-${bench.next()}`);
    const marker = `4${Date.now()}`;
    await bench.playbooks.set('site', [
      `command: "flock -n ${lock} sh -c 'test {{ muster_run }} != {{ muster_job }}.1.0 || sleep ${marker}'"`,
    ]);
    const name = `victim-${bench.next()}`;
    const victim = bench.process(name);
    const id = await bench.submit();
    await bench.runs(`sleep ${marker}`);
    const second = await bench.worker();
    victim.kill('SIGKILL');
    // Long before another may take the job: `flock` would tell, too.
    const at = performance.now();
    while (processesWith(`sleep ${marker}`).length > 0) await pause(10);
    expect(performance.now() - at).toBeLessThan(4_000);
    expect(await bench.when(id, () => true)).toMatchObject({ worker: name, generation: 1, status: 'Running' });
    expect(await bench.ended(id)).toMatchObject({ status: 'Complete', generation: 2, worker: second.bus.name });
  });

  it('hands its jobs on when it is stopped in the middle', async () => {
    const marker = `9${Date.now()}`;
    await bench.playbooks.set('site', [
      `command: "sh -c 'test {{ muster_run }} != {{ muster_job }}.1.0 || sleep ${marker}'"`,
    ]);
    const first = await bench.worker();
    const id = await bench.submit();
    await bench.runs(`sleep ${marker}`);
    await bench.worker();
    await first.close();
    expect(processesWith(`sleep ${marker}`)).toEqual([]);
    expect(await bench.ended(id)).toMatchObject({ status: 'Complete', generation: 2 });
  });

  const LINES = timesFactor(5_000);
  it(`writes ${LINES} lines and one of a megabyte into the log, whole, also past a reader that never reads`, async () => {
    await bench.playbooks.set('site', [
      `{name: Talk, debug: {msg: "{{ range(${LINES}) | list }}"}}`,
      `{name: Shout, debug: {msg: "{{ 'x' * 1000000 }}"}}`,
    ]);
    await bench.worker();
    const run = async (): Promise<JobRecord> => {
      const id = await bench.submit();
      // Takes one piece, and never another.
      const idle = bench.bus.readLog(id, { follow: true })[Symbol.asyncIterator]();
      await idle.next();
      const record = await bench.ended(id);
      await idle.return?.();
      return record;
    };
    let record = await run();
    // A worker that stands still for want of CPU rightly loses its job, and runs it again: then its log is that of two.
    for (let more = 2; record.generation > 1 && more > 0; more--) record = await run();
    expect(record).toMatchObject({ status: 'Complete', generation: 1 });
    const log = await bench.logOf(record.id);
    expect(log.match(/^\s+\d+,?$/gm)).toHaveLength(LINES);
    expect(log).toContain('x'.repeat(1_000_000));
  });
});
