import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readServiceFile } from '#contracts/services/service-file.js';
import { MusterWithNodes, node, quiet } from '../testing/nodes.js';

describe('services of one’s own', () => {
  const sut = new MusterWithNodes();
  let dir: string;

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(async () => {
    sut.reset();
    dir = await mkdtemp(join(tmpdir(), 'muster-new-service-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('begin with one that is written whole, is accepted as it is, and is never written over', async () => {
    const made = await sut.call(['service', 'new', '9.web', '--dir', dir, '--host-group', 'edge']);
    expect(made).toEqual(quiet);
    const files = (await readdir(join(dir, '9.web'), { recursive: true })).filter((f) => /\.(yml|j2)$/.test(f)).sort();
    expect(files).toEqual([
      ...['defaults.yml', 'service.yml', 'tasks/check.yml', 'tasks/cleanup.yml', 'tasks/site.yml'],
      ...['templates/9.web.service.j2', 'templates/index.html.j2'],
    ]);
    const declared = await readFile(join(dir, '9.web/service.yml'), 'utf8');
    expect(readServiceFile('9.web', declared, 'f')).toMatchObject({ groups: { edge: 'server' }, resetup: 'alone' });
    const defaults = parse(await readFile(join(dir, '9.web/defaults.yml'), 'utf8')) as object;
    expect(defaults).toEqual({ _9_web_port: 8080, _9_web_text: 'it works' });

    const again = await sut.call(['service', 'new', '9.web', '--dir', dir]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is there already')]);
    expect(sut.received).toEqual([]);
  });

  it.each([
    [['new', '../up'], 'cannot name a service'],
    [['new', 'agent'], "is Muster's own service"],
    [['new', 'web', '--host-group', 'a b'], 'cannot be the name of a host group'],
  ])('%j is refused, and nothing is written', async (args, why) => {
    const refused = await sut.call(['service', ...args, '--dir', dir]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(why)]);
    expect(await readdir(dir)).toEqual([]);
  });

  it('are listed with version, groups, nodes, and what was found where since when', async () => {
    const at = (name: string, findings: object, more: object = {}): object => ({
      ...node(name),
      provisioned: { checksum: 's', at: 1, job: 'j', services: ['agent', 'web'] },
      findings: { at: 60_000, job: 'j', services: findings },
      ...more,
    });
    const web = { version: '3', mode: 'server', since: 30_000 };
    const items = [
      at('b-1', { agent: { result: 'ok', why: '', since: 1 }, web: { ...web, result: 'drift', why: 'conf' } }),
      at(
        'a-1',
        { web: { ...web, version: '2', result: 'ok', why: '' } },
        { findings: { at: 1, job: 'i', services: { web: { ...web, version: '2', result: 'ok', why: '' } } } },
      ),
      // Set up by a Muster that kept no findings.
      { ...node('c-1'), provisioned: { checksum: 's', at: 1, job: 'j', services: ['agent'] } },
      at(
        'm-1',
        { web: { version: '3', mode: 'absent', result: 'broken', why: 'runs', since: 0 } },
        { hostGroup: 'service-master', provisioned: undefined },
      ),
      node('d-1'),
    ];
    sut.on('GET /v1/nodes', { items });
    const { stdout } = await sut.call(['service', 'list', '-o', 'table']);
    expect(stdout.split('\n').map((l) => l.trim().split(/\s{2,}/))).toEqual(
      expect.arrayContaining([
        ['SERVICE', 'VERSION', 'GROUPS', 'NODES', 'ON', 'LAST FOUND'],
        ['agent', '-', '-', '3', 'a-1 b-1 c-1', 'ok on 1'],
        [
          ...['web', '3, 2', 'service-master: absent, service-worker: server', '2', 'a-1 b-1'],
          'drift on b-1 since 1970-01-01T00:00:30.000Z, broken on m-1 since 1970-01-01T00:00:00.000Z, ok on 1',
        ],
      ]),
    );
    const json = JSON.parse((await sut.call(['service', 'list', '--json'])).stdout) as { items: unknown[] };
    expect(json.items[1]).toEqual({
      name: 'web',
      versions: ['3', '2'],
      groups: { 'service-master': 'absent', 'service-worker': 'server' },
      nodes: ['a-1', 'b-1'],
      ok: 1,
      findings: [
        { node: 'b-1', result: 'drift', why: 'conf', since: 30_000, at: 60_000 },
        { node: 'm-1', result: 'broken', why: 'runs', since: 0, at: 60_000 },
      ],
    });
  });

  describe('are tested', () => {
    const tested = (wrong: object[], more: object = {}): object => ({
      id: 'j1',
      kind: 'service-test',
      nodes: ['a-1'],
      status: wrong.length > 0 ? 'Errored' : 'Complete',
      settled: true,
      error: wrong.length > 0 ? 'tasks/site.yml:3: it is not idempotent' : '',
      results: {
        'a-1': {
          ok: wrong.length === 0,
          step: 'service-test',
          test: {
            ...{ service: 'web', hostGroup: 'service-worker', mode: 'server' },
            steps: [
              { step: 'site', ok: true },
              { step: 'again', ok: wrong.length === 0 },
            ],
            wrong,
          },
        },
      },
      ...more,
    });
    const test = ['service', 'test', 'web', '--on', 'a-1'];
    beforeEach(() => {
      sut.on('GET /v1/events', (_: unknown, res: ServerResponse) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
      });
    });
    const wrong = { file: 'tasks/site.yml:3', what: 'a second run changed "Write it": it is not idempotent' };

    it('by a job that is followed to its end; all right is exit code 0', async () => {
      sut.on('GET /v1/jobs/j1', tested([]));
      const done = await sut.call([...test, '--host-group', 'service-worker', '-e', '{"x":1}', '--timeout', '15m']);
      expect(sut.sent('POST')).toEqual([
        {
          ...{ kind: 'service-test', nodes: ['a-1'], service: 'web', hostGroup: 'service-worker' },
          ...{ extraVars: { x: 1 }, timeout: 900 },
        },
      ]);
      expect([done.code, done.stderr]).toEqual([0, '']);
      expect(done.stdout).toBe(
        [
          'a-1: service-test: ok',
          'job j1: Complete',
          'web on a-1, as server in host group service-worker:',
          '  ok     site   site',
          '  ok     again  site again changes nothing',
          '',
        ].join('\n'),
      );
    });

    it('and what is wrong is told line by line, each with the file that is to be mended; exit code 1', async () => {
      sut.on('GET /v1/jobs/j1', tested([wrong]));
      const done = await sut.call(test);
      expect(done.stdout.split('\n').slice(-4)).toEqual([
        '  ok     site   site',
        '  WRONG  again  site again changes nothing',
        'tasks/site.yml:3: a second run changed "Write it": it is not idempotent',
        '',
      ]);
      expect([done.code, done.stderr]).toEqual([1, 'muster: web is not right: 1 thing is to be mended\n']);
      const json = await sut.call([...test, '--json']);
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject({
        job: 'j1',
        node: 'a-1',
        ok: false,
        service: 'web',
        wrong: [wrong],
      });
    });

    it('and one that did not come to its end is no success', async () => {
      sut.on(
        'GET /v1/jobs/j1',
        tested([], { status: 'Errored', error: 'cancelled by ann', cancel: { by: 'ann', at: 1 } }),
      );
      const done = await sut.call(test);
      expect([done.code, done.stderr]).toEqual([1, 'muster: web was not tested whole: cancelled by ann\n']);
      sut.on('GET /v1/jobs/j1', tested([], { status: 'Errored', error: 'no web there', results: {} }));
      expect((await sut.call(test)).stderr).toContain('no web there');
    });

    it('on a node that is named; one that is refused is told in one line', async () => {
      expect((await sut.call(['service', 'test', 'web'])).code).toBe(2);
      const detail = 'a-1 is Allocated; take it out first: muster nodes decommission a-1 --wait';
      sut.on('POST /v1/operations', { code: 'ILLEGAL_TRANSITION', detail }, 409);
      expect(await sut.call(test)).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(detail) });
    });
  });
});
