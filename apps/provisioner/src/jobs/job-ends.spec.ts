import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { connectionOf } from '#bus/testing/connection-of.js';
import { processesWith } from '#bus/testing/processes.js';
import type { JobRecord } from '#contracts';
import { quickest } from '#contracts/testing/quickest.js';
import { jobBench } from '../testing/job-bench.js';

const bench = jobBench();

describe('the job runner', () => {
  it('ends Ansible and its children within 2 s of a cancel, also what runs on the node, then treats it as a failure', async () => {
    const child = `7${Date.now()}`;
    const onTheNode = `6${Date.now()}`;
    const run = '{MUSTER_JOB: "{{ muster_job }}", MUSTER_RUN: "{{ muster_run }}"}';
    await bench.playbooks.set('site', [
      // In a session of its own: as out of Ansible's reach as the other end of an ssh connection.
      `{shell: setsid sleep ${onTheNode} >/dev/null 2>&1 &, environment: ${run}}`,
      `command: sleep ${child}`,
    ]);
    await bench.worker();
    const took = await quickest(2_000, async () => {
      const id = await bench.submit();
      await bench.runs(`sleep ${child}`);
      expect(processesWith(`sleep ${onTheNode}`)).toHaveLength(1);
      const at = performance.now();
      await bench.bus.bucket<JobRecord>('jobs').mutate(id, (e) => e && { ...e.value, cancel: { by: 'ann', at: 0 } });
      while (processesWith(`sleep ${child}`).length > 0) await pause(10);
      const ms = performance.now() - at;
      await bench.when(id, (j) => j.task === 'cleanup');
      expect(processesWith(`sleep ${onTheNode}`)).toEqual([]);
      expect(await bench.ended(id)).toMatchObject({ status: 'Errored', error: 'cancelled by ann' });
      return ms;
    });
    expect(took).toBeLessThan(2_000);
  });

  it('lets another finish the job of a worker that is gone, and never runs Ansible twice at once', async () => {
    const lock = join(bench.dataDir, `lock-${bench.next()}`);
    const marker = `8${Date.now()}`;
    // Held by the kernel for as long as any process of the run lives: a second one that comes too early fails.
    await bench.playbooks.set('site', [
      `command: "flock -n ${lock} sh -c 'test {{ muster_run }} != {{ muster_job }}.1.0 || sleep ${marker}'"`,
    ]);
    const first = await bench.worker();
    const id = await bench.submit();
    await bench.when(id, (j) => j.status === 'Running');
    await bench.runs(`sleep ${marker}`);
    const second = await bench.worker();
    // The first loses NATS without a word: its lease runs out, and its guard ends what it had started.
    await connectionOf(first.bus).close();
    const record = await bench.ended(id);
    expect(record).toMatchObject({ status: 'Complete', worker: second.bus.name });
    // More: it stood still for longer than its lease, and took the job again.
    expect(record.generation).toBeGreaterThan(1);
    expect(processesWith(`sleep ${marker}`)).toEqual([]);
  });
});
