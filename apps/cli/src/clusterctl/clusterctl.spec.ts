import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MusterUnderTest, type Outcome } from '../testing/muster.js';

const bin = fileURLToPath(new URL('../../../../bin/', import.meta.url));

const node = {
  monitoring_state: { label: 'host1', serial_number: 'SN1', management_address: '127.0.0.1' },
  inventory_state: {
    name: 'host1-SN1',
    status: 'Allocated',
    prev_status: 'Provisioning',
    state: 'Discovered',
    prev_state: 'Unknown',
  },
  configuration_state: {
    inventory_name: 'host1-SN1',
    host_group: 'service-master',
    ssh_address: '127.0.0.1',
    inventory_vars: { node_addr: '127.0.0.1', node_name: 'host1-SN1' },
  },
};
const lines = [
  'Inventory State',
  '   name: host1-SN1',
  '   prev_state: Unknown',
  '   prev_status: Provisioning',
  '   state: Discovered',
  '   status: Allocated',
  'Monitoring State',
  '   label: host1',
  '   management_address: 127.0.0.1',
  '   serial_number: SN1',
  'Configuration State',
  '   host_group: service-master',
  '   inventory_name: host1-SN1',
  '   inventory_vars:',
  '       node_addr: 127.0.0.1',
  '       node_name: host1-SN1',
  '   ssh_address: 127.0.0.1',
].map((line) => `host1-SN1: ${line}\n`);

describe('clusterctl', () => {
  const sut = new MusterUnderTest();
  const call = (...args: string[]): Promise<Outcome> => sut.call(args, { program: '/usr/local/bin/clusterctl' });

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => {
    sut.received.length = 0;
  });

  it('prints nodes as it always did, also where somebody sits at a terminal', async () => {
    sut.on('GET /info/nodes', { 'host1-SN1': node });
    sut.on('GET /info/node/host1-SN1', node);
    expect((await call('nodes', 'get')).stdout).toBe(`${lines.join('')}\n`);
    const seen = await sut.call(['a', 'g'], { program: 'clusterctl', terminal: 80 });
    expect(seen.stdout).toBe(`${lines.join('')}\n`);
    expect((await call('node', 'get', 'host1-SN1')).stdout).toBe(`${lines.join('')}\n`);
    expect(JSON.parse((await call('nodes', 'get', '--json')).stdout)).toEqual({ 'host1-SN1': node });
    // Its JSON ends where it ends, as ever.
    expect((await call('node', 'get', 'host1-SN1', '-j')).stdout).toBe(JSON.stringify(node, undefined, 4));
    await call('nodes', 'get', 'host1-SN1', 'nope');
    expect(sut.received.at(-1)?.url).toBe('/info/nodes?nodes=host1-SN1%2Cnope');
  });

  it('posts what it was given, unread, to the old paths', async () => {
    const accepted = (_: unknown, res: ServerResponse): unknown => res.end();
    for (const path of ['commission/nodes', 'update/node/a', 'decommission/node/a', 'discover/nodes', 'globals'])
      sut.on(`POST /${path}`, accepted);
    const quiet = { code: 0, stdout: '', stderr: '' };
    expect(await call('nodes', 'commission', 'a', 'b', '-g', 'service-master', '-e', '{"x":1}')).toEqual(quiet);
    expect(await call('n', 'u', 'a', '--host-group', 'bar')).toEqual(quiet);
    expect(await call('node', 'decommission', 'a')).toEqual(quiet);
    expect(await call('discover', '10.0.0.1', '10.0.0.2')).toEqual(quiet);
    expect(await call('global', 'set', '--extra-vars', 'not json')).toEqual(quiet);
    expect(await call('global', 'set')).toEqual(quiet);
    expect(sut.received.map((r) => [r.url, r.body])).toEqual([
      ['/commission/nodes', { nodes: ['a', 'b'], host_group: 'service-master', extra_vars: '{"x":1}' }],
      ['/update/node/a', { host_group: 'bar' }],
      ['/decommission/node/a', {}],
      ['/discover/nodes', { addresses: ['10.0.0.1', '10.0.0.2'] }],
      ['/globals', { extra_vars: 'not json' }],
      // Not given changes nothing; an empty one would clear them.
      ['/globals', {}],
    ]);
  });

  it('prints globals, configuration and jobs as it always did', async () => {
    sut.on('GET /info/globals', { extra_vars: {} });
    expect((await call('global', 'get')).stdout).toBe('extra_vars:\n');
    const extra = '{"foo":"config-level"}';
    sut.on('GET /config', {
      serf: { Addr: '127.0.0.1:7373', AuthKey: '' },
      ansible: { user: 'root', extra_variables: extra },
    });
    expect((await call('config', 'get')).stdout).toBe(
      `ansible:\n    extra_variables: ${extra}\n    user: root\nserf:\n    Addr: 127.0.0.1:7373\n    AuthKey: \n`,
    );
    sut.on('GET /info/job/last', { desc: 'd', task: '', status: 'Queued', error: '', logs: [] });
    expect((await call('job', 'get', 'last')).stdout).toBe(
      '\nDescription: d\nStatus: Queued\nError: \nLogs:\n    \n\n',
    );
    sut.on('GET /info/job/last', { desc: 'd', task: '', status: 'Complete', error: '', logs: ['a', '', 'b'] });
    expect((await call('job', 'get', 'last')).stdout).toBe(
      '\nDescription: d\nStatus: Complete\nError: \nLogs:\n    a\n    \n    b\n\n',
    );
  });

  it('prints lists, null and large numbers as Go does', async () => {
    const extra_vars = {
      servers: ['a', 1, null, ['x', null], { b: 2, a: [true] }],
      none: null,
      empty: [],
      map: { deep: { k: 'v' }, void: {} },
      big: 1_000_000,
      bigger: 123_456_789,
      small: 0.00001,
      plain: 999_999,
      part: 0.5,
      yes: true,
    };
    sut.on('GET /info/globals', { extra_vars });
    expect((await call('global', 'get')).stdout).toBe(
      [
        'extra_vars:',
        '    big: 1e+06',
        '    bigger: 1.23456789e+08',
        '    empty:',
        '    map:',
        '        deep:',
        '            k: v',
        '        void:',
        '    none: <no value>',
        '    part: 0.5',
        '    plain: 999999',
        '    servers:',
        '        a',
        '        1',
        '        <no value>',
        '        [x <nil>]',
        '        map[a:[true] b:2]',
        '    small: 1e-05',
        '    yes: true',
        '',
      ].join('\n'),
    );
  });

  it('says what a job is before its log goes on', async () => {
    sut.on('GET /info/job/active', { desc: 'd', task: '', status: 'Running', error: '', logs: ['PLAY [all]'] });
    sut.on('GET /info/logs/active', (_: unknown, res: ServerResponse) => res.end('PLAY [all]\n'));
    expect((await call('job', 'get', 'active', '-f')).stdout).toBe(
      '\nDescription: d\nStatus: Running\nError: \nLogs:\nPLAY [all]\n',
    );
  });

  describe('a refusal', () => {
    const said = 'invalid or empty host-group specified: "foo"\n';
    const fatal = (msg: string): RegExp =>
      new RegExp(
        `^time="\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(Z|[+-]\\d\\d:\\d\\d)" level=fatal msg="${escaped(msg)}" \\n$`,
      );
    const escaped = (text: string): string => text.replaceAll(/[[\](){}.*+?^$|\\]/g, String.raw`\$&`);

    beforeEach(() => {
      for (const route of ['POST /commission/nodes', 'GET /info/node/x', 'GET /info/logs/last', 'POST /config'])
        sut.on(route, (_: unknown, res: ServerResponse) =>
          res.writeHead(500, { 'content-type': 'text/plain' }).end(said),
        );
    });

    it.each([
      [
        ['nodes', 'commission', 'a', 'b', '-g', 'foo', '-e', '{"x":1}'],
        String.raw`Request URL: commission/nodes Request Body: &{Nodes:[a b] Addrs:[] HostGroup:foo ExtraVars:{\"x\":1} Job: Event:{Name: Nodes:[]} Config:<nil>} Response status: \"500 Internal Server Error\". Response body: invalid or empty host-group specified: \"foo\"\n`,
      ],
      [
        ['node', 'get', 'x'],
        String.raw`Request URL: info/node/x Request Body: <nil> Response status: \"500 Internal Server Error\". Response body: invalid or empty host-group specified: \"foo\"\n`,
      ],
    ])('of %j is told as the old logger did', async (args, msg) => {
      const { code, stdout, stderr } = await call(...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(fatal(msg));
    });

    it.each([
      [['node', 'commission'], 'command expects 1 arg(s) but received 0'],
      [['node', 'update', 'a', 'b'], 'command expects 1 arg(s) but received 2'],
      [['nodes', 'decommission'], 'command expects >=1 arg(s) but received 0'],
      [['node', 'get'], 'command expects 1 arg(s) but received 0'],
      [['job', 'get'], 'command expects 1 arg(s) but received 0'],
      [['discover'], 'command expects >=1 arg(s) but received 0'],
      [['discover', '10.0.0.1', '1.2.3.4.5'], String.raw`failed to parse ip address \"1.2.3.4.5\"`],
      [['global', 'set', 'x'], 'command expects 0 arg(s) but received 1'],
      [['config', 'set'], 'command expects 1 arg(s) but received 0'],
    ])('of %j comes before anything is asked', async (args, msg) => {
      const { code, stdout, stderr } = await call(...args);
      expect([code, stdout, sut.received]).toEqual([1, '', []]);
      expect(stderr).toMatch(fatal(msg));
    });

    it('is red where somebody sits at a terminal', async () => {
      const { stderr } = await sut.call(['node', 'get'], { program: 'clusterctl', terminal: 80 });
      expect(stderr).toBe(`\u001b[31mFATA\u001b[0m[0000] ${'command expects 1 arg(s) but received 0'.padEnd(44)} \n`);
    });
  });

  it.each([[[]], [['h']], [['help']], [['--help']]])('answers %j with its commands', async (args) => {
    const { code, stdout, stderr } = await call(...args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: clusterctl [^]*Commands:[^]*discover/);
  });

  it.each([[['nodes']], [['a', 'h']], [['nodes', 'help']]])('answers %j with the commands of nodes', async (args) => {
    const { code, stdout, stderr } = await call(...args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: clusterctl nodes[^]*Commands:[^]*decommission/);
  });

  it.each(['--version', '-v', '-version'])('answers %s with its name and version', async (flag) => {
    expect(await call(flag)).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^clusterctl version \d+\.\d+\.\d+\n$/),
      stderr: '',
    });
  });

  it('takes long options with one dash, as Go programs do', async () => {
    sut.on('GET /info/globals', { extra_vars: {} });
    expect((await call('global', 'get', '-json')).stdout).toBe('{\n    "extra_vars": {}\n}');
    sut.on('GET /info/node/h', node);
    expect((await call('node', 'get', 'h')).stdout).toBe(`${lines.join('')}\n`);
  });

  it('has no commands but the old ones', async () => {
    const { code, stderr } = await call('status');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Usage: clusterctl ')]);
  });
});

describe('install-clusterctl', () => {
  const sut = new MusterUnderTest();
  const root = mkdtempSync(join(tmpdir(), 'muster-clusterctl-'));
  const [path, other] = [join(root, 'bin'), join(root, 'other')];
  for (const dir of [path, other]) mkdirSync(dir);
  symlinkSync(join(bin, 'muster.mjs'), join(path, 'muster'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const install = (env: string, ...args: string[]): Promise<Outcome> =>
    sut.call(['install-clusterctl', ...args], { program: join(path, 'muster'), env: { PATH: env } });

  it('is refused while another clusterctl is on PATH, with a hint', async () => {
    writeFileSync(join(other, 'clusterctl'), '#!/bin/sh\n');
    const { code, stderr } = await install(`${path}:${other}`);
    expect([code, stderr.split('\n').length]).toEqual([1, 2]);
    expect(stderr).toContain(`another clusterctl is at ${join(other, 'clusterctl')}: remove or rename it first`);
  });

  it('puts it beside muster, once, and it runs', async () => {
    const at = join(path, 'clusterctl');
    expect((await install(path)).stderr).toBe(`muster: ${at} is this program under its old name\n`);
    expect((await install(path)).stderr).toBe(`muster: ${at} is there already\n`);
    expect(realpathSync(at)).toBe(realpathSync(join(bin, 'clusterctl.mjs')));
    const { code, stderr } = await sut.run(['nodes', 'get', '-u', '127.0.0.1:1'], {}, at);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/ level=fatal msg="no Muster at 127\.0\.0\.1:1: .*" \n$/),
    ]);
  });

  it('says where it cannot put it', async () => {
    const { code, stderr } = await install('', '--dir', join(root, 'nowhere'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^muster: .*nowhere\/clusterctl: ENOENT.*\n$/)]);
  });
});
