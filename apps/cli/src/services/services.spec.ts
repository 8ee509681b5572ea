import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
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

  it('are listed with the nodes that were set up with them', async () => {
    const at = (name: string, ...services: string[]): object => ({
      ...node(name),
      provisioned: { checksum: 's', at: 1, job: 'j', services },
    });
    sut.on('GET /v1/nodes', { items: [at('b-1', 'agent', 'web'), at('a-1', 'agent'), node('c-1')] });
    const { stdout } = await sut.call(['service', 'list', '-o', 'table']);
    expect(stdout.split('\n').map((l) => l.trim().split(/\s{2,}/))).toEqual(
      expect.arrayContaining([
        ['SERVICE', 'NODES', 'ON'],
        ['agent', '2', 'a-1 b-1'],
        ['web', '1', 'b-1'],
      ]),
    );
  });
});
