import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import type { Received } from '../testing/muster.js';
import { MusterWithNodes, node, quiet } from '../testing/nodes.js';

describe('records of nodes', () => {
  const sut = new MusterWithNodes();

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => sut.reset());

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
    expect(sut.sent('POST')).toEqual([
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
    await sut.call(['node', 'set', 'a-1', 'hostGroup=db', 'vars.valueOf=a=b', 'network.backend=10.1.0.7']);
    await sut.call(['node', 'unset', 'a-1', 'vars.rack', 'network.backend', 'ssh-host-keys', 'hostGroup']);
    expect(sut.sent('PATCH')).toEqual<unknown[]>([
      { hostGroup: 'db', vars: { valueOf: 'a=b' }, networks: { backend: { address: '10.1.0.7' } } },
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
    expect(sut.sent('POST')).toEqual([
      {
        serial: 'S7',
        label: 'h7',
        networks: { management: { address: '10.0.0.1' }, backend: { address: '10.1.0.9' } },
      },
    ]);
  });

  it('are cordoned and drained with a reason, and until when', async () => {
    sut.on('PUT /v1/nodes/a-1/cordon', node('a-1'));
    await sut.call(['node', 'cordon', 'a-1', '--reason', 'disk', '--for', '2h']);
    await sut.call(['node', 'drain', 'a-1', '--reason', 'kernel']);
    expect(sut.sent('PUT')).toEqual([
      { reason: 'disk', until: expect.any(Number) },
      { reason: 'kernel', drain: true },
    ]);
  });

  it('are drained with --wait until the last workload has left', async () => {
    sut.on('PUT /v1/nodes/a-1/cordon', node('a-1'));
    const cordon = { reason: 'kernel', by: 'ada', at: 1, drain: true };
    const looks = [
      node('a-1', { cordon, remaining: ['db1', 'web'] }),
      node('a-1', { cordon, remaining: ['web'] }),
      node('a-1', { cordon, remaining: [] }),
      node('a-1', { cordon: { ...cordon, drained: 2 }, remaining: [] }),
    ];
    const json = (res: ServerResponse, value: unknown): unknown =>
      res.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    sut.on('GET /v1/nodes/a-1', (_: unknown, res: ServerResponse) => json(res, looks.shift()));
    const drain = ['node', 'drain', 'a-1', '--reason', 'kernel', '--wait'];
    const { code, stdout } = await sut.call(drain);
    expect([code, stdout.split('\n')]).toEqual([
      0,
      ['a-1: still there: db1 web', 'a-1: still there: web', 'a-1: no workloads are left', 'a-1: drained', ''],
    ]);
    expect(looks).toEqual([]);
    looks.push(node('a-1'));
    const ended = await sut.call(drain);
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining('muster: a-1 is no longer being drained\n'),
    ]);
  });
});
