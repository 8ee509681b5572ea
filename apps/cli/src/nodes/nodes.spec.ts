import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MusterUnderTest, type Received } from '../testing/muster.js';

const bmc = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1', username: 'admin', secret: 'a-1.bmc' };
const node = (name: string, more: object = {}): object => ({
  name,
  label: name.split('-')[0],
  serial: name.split('-')[1],
  hostGroup: 'service-worker',
  failureDomain: 'rack1',
  networks: { management: { address: '10.0.0.1' }, backend: { address: '10.1.0.1' } },
  powerLevels: [[bmc]],
  vars: { rack: 'r1' },
  fencing: 'auto',
  status: 'Allocated',
  prevStatus: 'Provisioning',
  state: 'Discovered',
  prevState: 'Unknown',
  inService: false,
  reasons: [{ code: 'CORDONED', detail: 'cordoned by ada: disk swap' }],
  revision: 7,
  ...more,
});

describe('node and nodes', () => {
  const sut = new MusterUnderTest();
  const dir = mkdtempSync(join(tmpdir(), 'muster-cli-nodes-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const sent = (method: string): unknown[] => sut.received.filter((r) => r.method === method).map((r) => r.body);
  const quiet = { code: 0, stdout: '', stderr: '' };

  beforeAll(() => sut.start());
  afterAll(async () => {
    await sut.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  beforeEach(() => {
    sut.received.length = 0;
    sut.on('GET /v1/workloads', { items: [] });
    sut.on('GET /v1/nodes/a-1', node('a-1'));
    sut.on('PATCH /v1/nodes/a-1', node('a-1', { revision: 8 }));
    sut.on('GET /v1/nodes', { items: [node('a-1'), node('b-2', { inService: true, reasons: [] })] });
    sut.on('POST /v1/operations', { job: 'j1' }, 202);
  });

  describe('what is printed of nodes', () => {
    it('is a table on a terminal, with colours unless NO_COLOR asks for none', async () => {
      const { stdout } = await sut.call(['nodes', 'get'], { terminal: 120 });
      const plain = (await sut.call(['nodes', 'get'], { terminal: 120, env: { NO_COLOR: '1' } })).stdout;
      expect(plain.split('\n')).toEqual([
        'NAME  GROUP           STATUS     STATE       SERVICE  ADDRESS   WHY',
        'a-1   service-worker  Allocated  Discovered  out      10.0.0.1  cordoned by ada: disk swap',
        'b-2   service-worker  Allocated  Discovered  in       10.0.0.1',
        '',
      ]);
      expect(stdout).toContain('\u001b[33mout\u001b[0m');
    });

    it('takes the form of -o, also in a pipe', async () => {
      const out = async (...args: string[]): Promise<string> => (await sut.call(['nodes', 'get', ...args])).stdout;
      expect(await out('-o', 'name')).toBe('a-1\nb-2\n');
      expect(await out('-o', 'table')).toMatch(/^NAME +GROUP/);
      expect(await out('-o', 'yaml')).toMatch(/^items:\n {2}- name: a-1\n/);
      expect(await out('-o', 'json')).toBe(await out('--json'));
      expect(await out()).toContain('a-1:    status: Allocated\n');
    });

    it('is a page about one on a terminal', async () => {
      const { stdout } = await sut.call(['node', 'get', 'a-1'], { terminal: 120, env: { NO_COLOR: '1' } });
      expect(stdout).toMatch(/^a-1: out of service\n {2}CORDONED +cordoned by ada: disk swap\n/);
      expect(stdout).toMatch(/\n {2}power 1 +bmc \(ipmitool 10\.2\.0\.1\)\n/);
      expect(stdout).toMatch(/\n {2}vars +rack: r1\n/);
    });
  });

  describe('--selector', () => {
    it('lets the server choose', async () => {
      await sut.call(['nodes', 'get', '-l', 'vars.rack=r1,inService']);
      expect(sut.received.map((r) => r.url)).toEqual(['/v1/nodes?selector=vars.rack%3Dr1%2CinService&limit=1000']);
    });

    it('gives an operation its nodes', async () => {
      expect(await sut.call(['nodes', 'check', '--selector', 'hostGroup=x'])).toEqual(quiet);
      expect(sent('POST')).toEqual([{ kind: 'check', nodes: ['a-1', 'b-2'] }]);
    });

    it('that chooses nobody starts nothing', async () => {
      sut.on('GET /v1/nodes', { items: [] });
      const { code, stderr } = await sut.call(['nodes', 'decommission', '-l', 'vars.rack=r9', '--yes']);
      expect([code, stderr]).toEqual([1, 'muster: no node matches vars.rack=r9\n']);
      expect(sent('POST')).toEqual([]);
    });

    it.each([[['nodes', 'check']], [['nodes', 'check', 'a-1', '-l', 'x=y']]])(
      '%j is a wrong command line',
      async (args) => {
        const { code, stderr } = await sut.call(args);
        expect([code, stderr]).toEqual([2, expect.stringContaining('\nUsage: muster nodes check ')]);
        expect(sut.received).toEqual([]);
      },
    );
  });

  describe('operations', () => {
    it('carry host group, extra vars, force and the longest time', async () => {
      const options = ['-g', 'web', '-e', '{"a":1}', '--timeout', '30m', '--force', '--yes'];
      await sut.call(['node', 'update', 'a-1', ...options]);
      expect(sent('POST')).toEqual([
        { kind: 'maintenance', nodes: ['a-1'], hostGroup: 'web', extraVars: { a: 1 }, timeout: 1800, force: true },
      ]);
    });

    it('have a key each, so that none is carried out twice', async () => {
      await sut.call(['nodes', 'check', 'a-1']);
      await sut.call(['nodes', 'check', 'a-1']);
      const keys = sut.received.map((r) => r.headers['idempotency-key']);
      expect(new Set(keys).size).toBe(2);
      expect(keys).not.toContain(undefined);
    });

    it('whose answer was lost are asked for again by the same key', async () => {
      let times = 0;
      sut.on('POST /v1/operations', (_: Received, res: ServerResponse) => {
        if (times++ === 0) res.destroy();
        else res.setHeader('content-type', 'application/json').end('{"job":"j1"}');
      });
      expect(await sut.call(['nodes', 'check', 'a-1', '-o', 'name'])).toEqual({ code: 0, stdout: 'j1\n', stderr: '' });
      expect(new Set(sut.received.map((r) => r.headers['idempotency-key'])).size).toBe(1);
    });

    it.each(['discover', 'nodes discover'])('%s takes addresses', async (words) => {
      await sut.call([...words.split(' '), '10.0.0.5', '10.0.0.6', '-e', '{}']);
      expect(sent('POST')).toEqual([{ kind: 'discover', addresses: ['10.0.0.5', '10.0.0.6'], extraVars: {} }]);
    });

    it('that end workloads ask a person, and do nothing without a yes', async () => {
      sut.on('GET /v1/workloads', { items: [{ name: 'db1', assignment: { node: 'a-1', generation: 1 } }] });
      const answer = (stdin: string): ReturnType<typeof sut.call> =>
        sut.call(['node', 'resetup', 'a-1'], { terminal: 100, stdin });
      const no = await answer('n\n');
      expect([no.code, no.stderr]).toEqual([
        1,
        expect.stringContaining('resetup a-1: workloads run there (db1 on a-1). Go on? [y/N]'),
      ]);
      expect((await answer('')).code).toBe(1);
      expect(sent('POST')).toEqual([]);
      expect((await answer('y\n')).code).toBe(0);
      expect(sent('POST')).toEqual([{ kind: 'resetup', nodes: ['a-1'] }]);
    });
  });

  describe('records', () => {
    it('are created with what is assigned: texts, and JSON behind :=', async () => {
      sut.on('POST /v1/nodes', node('h-1'), 201);
      const fields = [
        'network.management=10.0.0.9',
        'host-group=web',
        'vars.rack=12',
        'vars.cores:=32',
        'vars.a:={"b":[1]}',
      ];
      expect(await sut.call(['node', 'create', 'h', '1', ...fields, '--not-enrolled'])).toEqual(quiet);
      expect(sent('POST')).toEqual([
        {
          label: 'h',
          serial: '1',
          networks: { management: { address: '10.0.0.9' } },
          hostGroup: 'web',
          vars: { rack: '12', cores: 32, a: { b: [1] } },
          enrolled: false,
        },
      ]);
    });

    it('are changed by a merge patch, null for what is removed', async () => {
      await sut.call(['node', 'set', 'a-1', 'hostGroup=db', 'vars.constructor=a=b', 'network.backend=10.1.0.7']);
      await sut.call(['node', 'unset', 'a-1', 'vars.rack', 'network.backend', 'ssh-host-keys', 'hostGroup']);
      expect(sent('PATCH')).toEqual([
        { hostGroup: 'db', vars: { constructor: 'a=b' }, networks: { backend: { address: '10.1.0.7' } } },
        { vars: { rack: null }, networks: { backend: null }, sshHostKeys: null, hostGroup: null },
      ]);
    });

    it.each([
      [['set', 'a-1', 'color=red']],
      [['set', 'a-1', 'vars.a']],
      [['set', 'a-1', 'vars.a.b=1']],
      [['unset', 'a-1', 'vars.a.b']],
      [['set', 'a-1', 'vars.a:={']],
      [['set', 'a-1', 'vars.a=1', 'vars.a=2']],
      [['set', 'a-1', 'vars.__proto__:={"x":1}']],
      [['unset', 'a-1', 'failureDomain']],
      [['create', 'h', '1', 'vars.a=1']],
      [['replace', 'a-1', 'S2', 'vars.a=1']],
    ])('%j is a wrong command line: nothing is asked of the server', async (args) => {
      const { code, stderr } = await sut.call(['node', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('Usage: muster node')]);
      expect(sut.received).toEqual([]);
    });

    it('are forgotten and replaced', async () => {
      sut.on('DELETE /v1/nodes/a-1', (_: Received, res: ServerResponse) => res.writeHead(204).end());
      sut.on('POST /v1/nodes/a-1/replace', node('h7-S7'));
      expect(await sut.call(['node', 'delete', 'a-1'])).toEqual(quiet);
      await sut.call(['node', 'replace', 'a-1', 'S7', 'network.backend=10.1.0.9', '--label', 'h7']);
      expect(sent('POST')).toEqual([{ serial: 'S7', label: 'h7', networks: { backend: { address: '10.1.0.9' } } }]);
    });

    it('are cordoned and drained with a reason, and until when', async () => {
      sut.on('PUT /v1/nodes/a-1/cordon', node('a-1'));
      await sut.call(['node', 'cordon', 'a-1', '--reason', 'disk', '--for', '2h']);
      await sut.call(['node', 'drain', 'a-1', '--reason', 'kernel']);
      expect(sent('PUT')).toEqual([
        { reason: 'disk', until: expect.any(Number) },
        { reason: 'kernel', drain: true },
      ]);
    });
  });

  describe('power devices', () => {
    const add = ['node', 'power-device', 'add', 'a-1', 'pdu', '--driver', 'fence-agent:apc', '--address', '10.2.0.9'];

    it('are added on the revision that was read; the password comes from a file, the others keep theirs', async () => {
      const password = ['--level', '2', '--option', 'plug=3', '--password-file', file('pw', 's3cret\n')];
      expect(await sut.call([...add, ...password])).toEqual(quiet);
      const { secret: _, ...others } = bmc;
      const device = {
        id: 'pdu',
        driver: 'fence-agent:apc',
        address: '10.2.0.9',
        options: { plug: '3' },
        password: 's3cret',
      };
      expect(sent('PATCH')).toEqual([{ powerLevels: [[others], [device]] }]);
      expect(sut.last('PATCH')?.headers['if-match']).toBe('"7"');
    });

    it('are changed, with the password from stdin, and taken away', async () => {
      const change = ['--address', '10.2.0.8', '--port', '6230', '--password-stdin'];
      await sut.call(['node', 'power-device', 'set', 'a-1', 'bmc', ...change], { stdin: 'n3w\n' });
      await sut.call(['node', 'power-device', 'remove', 'a-1', 'bmc']);
      expect(sent('PATCH')).toEqual([
        {
          powerLevels: [
            [{ id: 'bmc', driver: 'ipmitool', address: '10.2.0.8', username: 'admin', port: 6230, password: 'n3w' }],
          ],
        },
        { powerLevels: [] },
      ]);
    });

    it('are edited anew where somebody was quicker, once', async () => {
      let revision = 7;
      const conflict = { code: 'REVISION_CONFLICT', detail: 'a-1 was changed meanwhile' };
      sut.on('GET /v1/nodes/a-1', (_: Received, res: ServerResponse) =>
        res.setHeader('content-type', 'application/json').end(JSON.stringify(node('a-1', { revision: revision++ }))),
      );
      sut.on('PATCH /v1/nodes/a-1', (r: Received, res: ServerResponse) =>
        res
          .writeHead(r.headers['if-match'] === '"8"' ? 200 : 409, { 'content-type': 'application/json' })
          .end(JSON.stringify(conflict)),
      );
      expect((await sut.call(['node', 'power-device', 'remove', 'a-1', 'bmc'])).code).toBe(0);
      const second = await sut.call(['node', 'power-device', 'remove', 'a-1', 'bmc']);
      expect(second).toEqual({ code: 1, stdout: '', stderr: 'muster: a-1 was changed meanwhile\n' });
      expect(sent('PATCH')).toHaveLength(4);
    });

    it.each([
      [[...add], 'say --level 1 for one that must be off as well, or --level 2 for one to try where they fail'],
      [[...add, '--level', '3'], 'the next free level is 2'],
      [['node', 'power-device', 'remove', 'a-1', 'ipdu'], 'no power device "ipdu"; it has 1: bmc'],
      [[...add, '--level', '2', '--password-file', '/nowhere/pw'], '/nowhere/pw: no such file'],
    ])('%j changes nothing', async (args, words) => {
      const { code, stderr } = await sut.call(args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
      expect(sent('PATCH')).toEqual([]);
    });

    it('take no password as an argument', async () => {
      expect((await sut.call([...add, '--password', 'x'])).code).toBe(2);
    });

    it('are listed, without what is secret', async () => {
      const { stdout } = await sut.call(['node', 'power-device', 'list', 'a-1']);
      expect(stdout).toBe(
        'bmc: level: 1\nbmc: driver: ipmitool\nbmc: address: 10.2.0.1\nbmc: user: admin\nbmc: password: stored\n',
      );
    });

    it('are tested: exit 1 where one does not say on or off', async () => {
      const silent = { id: 'pdu', power: 'unknown', code: 'BMC_TIMEOUT', detail: 'no answer in 6 s' };
      sut.on('GET /v1/nodes/a-1/power', { devices: [{ id: 'bmc', power: 'on' }, silent] });
      const { code, stdout, stderr } = await sut.call(['node', 'power-device', 'test', 'a-1']);
      expect(stdout).toBe(
        'bmc: power: on\nbmc: detail:\npdu: power: unknown\npdu: detail: BMC_TIMEOUT: no answer in 6 s\n',
      );
      expect([code, stderr]).toEqual([1, 'muster: a-1: the power cannot be read through pdu\n']);
      expect((await sut.call(['node', 'power-device', 'test', 'a-1', 'bmc'])).code).toBe(0);
      expect((await sut.call(['node', 'power', 'status', 'a-1'])).code).toBe(0);
    });
  });

  it('switches power with a reason; what ends workloads needs a yes', async () => {
    sut.on('POST /v1/nodes/a-1/power', { node: 'a-1', action: 'off', incident: 'i1' }, 202);
    sut.on('GET /v1/workloads', { items: [{ name: 'db1', assignment: { node: 'a-1', generation: 1 } }] });
    for (const action of ['off', 'soft', 'cycle']) {
      const { code, stderr } = await sut.call(['node', 'power', action, 'a-1', '--reason', 'r']);
      expect([code, stderr]).toEqual([1, expect.stringContaining('repeat with --yes')]);
    }
    expect(sent('POST')).toEqual([]);
    expect((await sut.call(['node', 'power', 'off', 'a-1', '--reason', 'r', '--yes', '-o', 'name'])).stdout).toBe(
      'i1\n',
    );
    expect((await sut.call(['node', 'power', 'on', 'a-1', '--reason', 'r'])).code).toBe(0);
    expect((await sut.call(['node', 'power', 'on', 'a-1'])).code).toBe(2);
    expect(sent('POST')).toEqual([
      { action: 'off', reason: 'r' },
      { action: 'on', reason: 'r' },
    ]);
  });

  it('shows the history of a node, newest first', async () => {
    const event = (seq: number, kind: string): object => ({
      seq,
      kind,
      key: 'a-1',
      at: 0,
      source: 's',
      data: { node: 'a-1' },
    });
    sut.on('GET /v1/nodes/a-1/history', { items: [event(2, 'in-service'), event(1, 'node-created')] });
    const { stdout } = await sut.call(['node', 'history', 'a-1', '-n', '2']);
    expect(stdout.split('\n').map((line) => line.split(' ')[1])).toEqual(['in-service', 'node-created', undefined]);
    expect(sut.received[0]?.url).toBe('/v1/nodes/a-1/history?limit=2');
  });

  describe('files of nodes', () => {
    it('are imported by their ending, or as --format says', async () => {
      sut.on('POST /v1/nodes/import', { dryRun: true, created: ['a-1'], updated: [], unchanged: ['b-2'] });
      const { stdout } = await sut.call(['nodes', 'import', file('fleet.csv', 'label,serial\n'), '--dry-run']);
      expect(stdout).toBe('a-1: would be: created\nb-2: would be: unchanged\n');
      await sut.call(['nodes', 'import', '-', '--format', 'yaml'], { stdin: 'nodes: []\n' });
      expect(sent('POST')).toEqual([
        { format: 'csv', content: 'label,serial\n', dryRun: true },
        { format: 'yaml', content: 'nodes: []\n' },
      ]);
      expect((await sut.call(['nodes', 'import', '-'])).code).toBe(2);
    });

    it('that are wrong say where, line by line', async () => {
      const errors = [
        { line: 3, message: 'label: may not hold "="' },
        { line: 7, message: 'networks.management.address: 10.0.0.1 is taken by line 3' },
      ];
      sut.on(
        'POST /v1/nodes/import',
        { code: 'IMPORT_INVALID', detail: 'nothing was imported: 2 errors', errors },
        400,
      );
      const name = file('bad.yaml', 'x');
      expect(await sut.call(['nodes', 'import', name])).toEqual({
        code: 1,
        stdout: '',
        stderr: `${name}:3: label: may not hold "="\n${name}:7: networks.management.address: 10.0.0.1 is taken by line 3\nmuster: nothing was imported: 2 errors\n`,
      });
    });

    it('are exported as they come', async () => {
      sut.on('GET /v1/nodes/export', (_: Received, res: ServerResponse) => res.end('nodes:\n  - label: a\n'));
      const { stdout } = await sut.call(['nodes', 'export', '-l', 'vars.rack=r1']);
      expect(stdout).toBe('nodes:\n  - label: a\n');
      expect(sut.received[0]?.url).toBe('/v1/nodes/export?format=yaml&selector=vars.rack%3Dr1');
    });
  });
});
