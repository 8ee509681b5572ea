import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { UP_AND_CLEAR } from '../output/live-lines.js';
import { MusterUnderTest } from '../testing/muster.js';

const job = (status: string, more: object = {}): object => ({
  id: 'j1',
  kind: 'commission',
  desc: 'commissionEvent: nodes:[a-1 b-2] extra-vars: {}',
  status,
  task: status === 'Queued' ? '' : 'site.yml',
  error: '',
  results: {},
  nodes: ['a-1', 'b-2'],
  settled: status === 'Complete' || status === 'Errored',
  ...more,
});
const at = (task: string, done: number, failed = false): object => ({ step: 'site', task, done, failed });
const site = { ok: true, step: 'site' };
const broken = { ok: false, step: 'site', failedTask: 'web : start', message: 'unit web.service\nfailed' };

const failed = job('Errored', { results: { 'a-1': site, 'b-2': broken }, error: 'site failed on b-2' });

const looks = [
  job('Queued', { moving: ['db1'] }),
  job('Running', { progress: { 'a-1': at('base : packages', 0) } }),
  job('Running', { progress: { 'a-1': at('base : packages', 0), 'b-2': at('base : packages', 3) } }),
  job('Running', { progress: { 'b-2': at('web : start', 4) }, results: { 'a-1': site } }),
  // Its nodes have not followed yet: who waits for them must not go on.
  { ...failed, settled: false },
  failed,
];

describe('--wait', () => {
  const sut = new MusterUnderTest();
  let wake: () => void;

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => {
    const left = [...looks];
    sut.on('POST /v1/operations', { job: 'j1' }, 202);
    sut.on('GET /v1/events', (_: unknown, res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      wake = () =>
        res.write(`id: 1\ndata: ${JSON.stringify({ seq: 1, kind: 'job', key: 'j1', data: { job: 'j1' } })}\n\n`);
      wake();
    });
    sut.on('GET /v1/jobs/j1', (_: unknown, res: ServerResponse) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(left.length > 1 ? left.shift() : left[0]));
      wake?.();
    });
  });
  const commission = ['nodes', 'commission', 'a-1', 'b-2', '--wait'];

  it('tells in a pipe each change in one line that begins with what it is about', async () => {
    const { code, stdout, stderr } = await sut.call(commission);
    expect(stdout.split('\n')).toEqual([
      'job j1: waits until workloads have left: db1',
      'job j1: site.yml',
      'a-1: site: base : packages',
      'b-2: site: base : packages (3 done)',
      'a-1: site: ok',
      'b-2: site: web : start (4 done)',
      'b-2: site: failed: web : start: unit web.service failed',
      'job j1: Errored',
      '',
    ]);
    expect([code, stderr]).toEqual([1, 'muster: job j1 failed: site failed on b-2\n']);
  });

  it('draws a line per node in its place on a terminal, and leaves the results there', async () => {
    const { stdout } = await sut.call(commission, { terminal: 80, env: { NO_COLOR: '1' } });
    const parts = stdout.split(UP_AND_CLEAR);
    const frames = parts.filter((part) => part !== '');
    expect(frames).toEqual([
      'job j1: waits until workloads have left: db1, 0 of 2 nodes done\n  a-1  waits\n  b-2  waits\n',
      'job j1: site.yml, 0 of 2 nodes done\n  a-1  site: base : packages\n  b-2  waits\n',
      'job j1: site.yml, 0 of 2 nodes done\n  a-1  site: base : packages\n  b-2  site: base : packages (3 done)\n',
      'job j1: site.yml, 1 of 2 nodes done\n  a-1  site: ok\n  b-2  site: web : start (4 done)\n',
      'a-1: site: ok\nb-2: site: failed: web : start: unit web.service failed\njob j1: Errored\n',
    ]);
    // As many lines are taken away as were drawn: three, four times.
    expect(parts).toHaveLength(1 + 3 * 4);
  });

  it('cuts a line that would wrap, and shows no more nodes than fit: first those that somebody may look at', async () => {
    const nodes = Array.from({ length: 200 }, (_, i) => `n-${i}`);
    const results = Object.fromEntries(nodes.slice(0, 150).map((n) => [n, site]));
    const many = { nodes, results, progress: { 'n-199': at(`base : ${'x'.repeat(100)}`, 1) } };
    const left = [job('Running', many), job('Complete', { nodes: ['n-0'], results: { 'n-0': site } })];
    sut.on('GET /v1/jobs/j1', (_: unknown, res: ServerResponse) => {
      res.setHeader('content-type', 'application/json').end(JSON.stringify(left.shift()));
    });
    const { stdout } = await sut.call(commission, { terminal: 60, env: { NO_COLOR: '1' } });
    const frame = (stdout.split('\u001b')[0] ?? '').trimEnd().split('\n');
    expect(frame.length).toBeLessThan(24);
    expect(Math.max(...frame.map((line) => line.length))).toBeLessThan(60);
    expect(frame[1]).toMatch(/^ {2}n-199 +site: base : x+…$/);
    expect(frame.at(-1)).toBe('  and 180 more');
  });

  it('answers with -o the job as it ended, and nothing before', async () => {
    const { stdout } = await sut.call([...commission, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'j1', status: 'Errored', settled: true });
  });

  it('outlasts a server that is away for a while', async () => {
    let times = 0;
    sut.on('GET /v1/jobs/j1', (_: unknown, res: ServerResponse) => {
      times += 1;
      if (times === 2) return res.destroy();
      if (times === 3)
        return res.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"detail":"no bus"}');
      return res
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(job(times === 1 ? 'Running' : 'Complete')));
    });
    const { code, stdout, stderr } = await sut.call(commission);
    expect([code, stdout]).toEqual([0, 'job j1: site.yml\njob j1: Complete\n']);
    expect(stderr).toMatch(/^muster: the connection to .* broke: .*; trying again\n$/);
  });

  it('names the node that an address has become', async () => {
    sut.on('GET /v1/jobs/j1', {
      ...job('Complete', { nodes: [], addresses: ['10.0.0.5'] }),
      results: { '10.0.0.5': { ok: true, step: 'discover', node: 'host5-SN5' } },
    });
    const { code, stdout } = await sut.call(['discover', '10.0.0.5', '--wait']);
    expect([code, stdout]).toEqual([0, '10.0.0.5: discover: ok: host5-SN5\njob j1: Complete\n']);
  });

  const check = (result: object): object => ({
    ...job('Complete', { kind: 'check', nodes: ['a-1', 'b-2'] }),
    results: { 'a-1': { ok: true, step: 'check', ...result }, 'b-2': { ok: true, step: 'check' } },
  });

  it.each([
    [
      'what inventory made of its findings',
      { verdict: { outcome: 'drift', why: 'web broken (not running)' } },
      'drift: web broken (not running)',
    ],
    [
      'its findings, by a server that says no more',
      { check: { findings: [{ service: 'web', result: 'broken', why: 'not running' }], checksum: 'x' } },
      'drift: web broken (not running)',
    ],
  ])('fails with a check that was carried out and found fault: by %s', async (_, result, words) => {
    sut.on('GET /v1/jobs/j1', check(result));
    expect(await sut.call(['nodes', 'check', 'a-1', 'b-2', '--wait'])).toEqual({
      code: 1,
      stdout: `a-1: check: ${words}\nb-2: check: ok\njob j1: Complete\n`,
      stderr: `muster: check of a-1: ${words}\n`,
    });
  });

  it('is content with a check that passed', async () => {
    sut.on('GET /v1/jobs/j1', check({ verdict: { outcome: 'pass', why: '' } }));
    expect((await sut.call(['nodes', 'check', 'a-1', 'b-2', '--wait'])).code).toBe(0);
  });

  it('leaves the job running on Ctrl-C, and says how to follow it', async () => {
    sut.on('GET /v1/jobs/j1', job('Running'));
    const shown = sut.printed('job j1: site.yml');
    const running = sut.run(commission);
    await shown;
    sut.interrupt();
    expect(await running).toEqual({
      code: 130,
      stdout: 'job j1: site.yml\n',
      stderr: 'muster: job j1 goes on; to follow it: muster job get j1 -f\n',
    });
    expect(sut.last('POST')?.url).toBe('/v1/operations');
  });
});
