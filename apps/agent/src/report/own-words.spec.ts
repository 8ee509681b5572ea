import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { systemClock } from '#bus/system/system-clock.js';
import { parseReport, type Report } from '#contracts/wire/report.js';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import { runs } from '#contracts/testing/chance.js';
import { LinkObservations } from '../links/link-observation.js';
import { listByCommand } from '../workload/running.js';
import { buildReport } from './build-report.js';
import { WorkloadWatch } from './workload-watch.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

const reportWith = (warnings: string[], workloads: Report['workloads']): Report =>
  buildReport({
    node: 'a',
    bootId: 'boot-1',
    epoch: 1,
    seq: 1,
    listVersion: 1,
    networks: ['backend'],
    peers: ['b'],
    links: new LinkObservations(DetectionProfiles.lan),
    now: 0,
    sendErrors: {},
    loopGapMs: 20,
    warnings,
    metrics: undefined,
    workloads,
    leaving: undefined,
  });
/** What others make of it. */
const read = (r: Report): Report | undefined => parseReport(JSON.stringify(r));

describe('whatever a tool on the host prints', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-lister-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  /** One look with a lister that prints this and ends so. */
  const look = async (output: string, code: number): Promise<Report> => {
    const file = join(dir, 'output');
    await writeFile(file, output);
    const lister = ['sh', '-c', `cat ${file} ${code === 0 ? '' : '>&2'}; exit ${code}`];
    let watch: WorkloadWatch | undefined;
    let listed: Promise<unknown> = Promise.resolve();
    watch = new WorkloadWatch(
      () => {
        const list = listByCommand(systemClock, lister);
        listed = list.catch(() => undefined);
        return list;
      },
      () => undefined,
      systemClock,
      quiet,
    );
    watch.poll();
    await listed;
    await new Promise((resolve) => setImmediate(resolve));
    watch.stop();
    return reportWith(watch.warning === undefined ? [] : [watch.warning], watch.running);
  };

  const name = fc.oneof(fc.constantFrom('', 'db', 'x'.repeat(128), 'x'.repeat(129), 'é\0"'), fc.string());
  const generation = fc.oneof(fc.constantFrom<unknown>(0, 3, -1, 1.5, 2 ** 60, '3', null), fc.nat());
  const workload = fc.record(
    { name, generation, starting: fc.constantFrom<unknown>(true, false, 'yes', 1) },
    { requiredKeys: [] },
  );
  const output = fc.oneof(
    fc.array(workload, { maxLength: 5 }).map((w) => JSON.stringify(w)),
    fc.json(),
    fc.string({ unit: 'binary', maxLength: 3000 }),
  );

  it('the report is read by others as it was meant', async () => {
    await fc.assert(
      fc.asyncProperty(output, fc.constantFrom(0, 0, 0, 1), async (text, code) => {
        const report = await look(text, code);
        expect(read(report)).toEqual(JSON.parse(JSON.stringify(report)));
        if (code !== 0) expect(report.workloads).toBeUndefined();
      }),
      { numRuns: runs(150) },
    );
  });

  it('sixty lines of complaints are told of in one sentence', async () => {
    const report = await look('virsh: error: failed to connect to the hypervisor\n'.repeat(60), 1);
    expect(report.health.warnings?.[0]).toMatch(/^workloads: sh ended with 1: virsh: error/);
    expect(read(report)).toEqual(report);
  });

  it.each([
    ['an empty name', '[{"name":"","generation":1}]'],
    ['a generation below 0', '[{"name":"vm1","generation":-1}]'],
    ['a name of 300 characters', JSON.stringify([{ name: 'x'.repeat(300), generation: 1 }])],
    [
      'more than a report carries',
      JSON.stringify(Array.from({ length: 10_001 }, () => ({ name: 'a', generation: 1 }))),
    ],
  ])('workloads with %s are not known, with a warning', async (_, text) => {
    const report = await look(text, 0);
    expect(report.workloads).toBeUndefined();
    expect(report.health.warnings?.[0]).toContain('printed no list of {name, generation}');
  });
});
