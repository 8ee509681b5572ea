import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import type { Received } from '../testing/muster.js';
import { MusterWithNodes } from '../testing/nodes.js';

describe('operations', () => {
  const sut = new MusterWithNodes();

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => sut.reset());

  it('carry host group, extra vars, force and the longest time', async () => {
    const options = ['-g', 'web', '-e', '{"a":1}', '--timeout', '30m', '--force', '--yes'];
    await sut.call(['node', 'update', 'a-1', ...options]);
    expect(sut.sent('POST')).toEqual([
      { kind: 'maintenance', nodes: ['a-1'], hostGroup: 'web', extraVars: { a: 1 }, timeout: 1800, force: true },
    ]);
  });

  it('take masters down at once where that is said', async () => {
    for (const kind of ['maintenance', 'resetup']) {
      sut.reset();
      await sut.call(['nodes', kind, 'a-1', 'b-2', '--at-once', '--yes']);
      expect(sut.sent('POST')).toEqual([{ kind, nodes: ['a-1', 'b-2'], atOnce: true }]);
    }
    expect((await sut.call(['nodes', 'decommission', 'a-1', '--at-once', '--yes'])).code).toBe(2);
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
    expect(sut.sent('POST')).toEqual([
      { kind: 'discover', addresses: ['10.0.0.5', '10.0.0.6'], skipKnown: true, extraVars: {} },
    ]);
  });

  it('discover names what it leaves out, since it is known', async () => {
    sut.on('POST /v1/operations', { job: 'j1', skipped: { '10.0.0.1': 'a-1' } }, 202);
    const { code, stderr } = await sut.call(['discover', '10.0.0.1', '10.0.0.5']);
    expect([code, stderr]).toEqual([0, 'muster: 10.0.0.1 is left out: it is a-1\n']);
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
    expect(sut.sent('POST')).toEqual([]);
    expect((await answer('y\n')).code).toBe(0);
    expect(sut.sent('POST')).toEqual([{ kind: 'resetup', nodes: ['a-1'] }]);
  });

  it('that end workloads tell a script what they want for it', async () => {
    sut.on('GET /v1/workloads', { items: [{ name: 'db1', assignment: { node: 'a-1', generation: 1 } }] });
    const said = async (...options: string[]): Promise<string> =>
      (await sut.call(['node', 'decommission', 'a-1', ...options])).stderr;
    const there = 'muster: decommission a-1: workloads run there (db1 on a-1); repeat with';
    expect(await said()).toBe(`${there} --yes and --force, which moves them away first\n`);
    expect(await said('--force')).toBe(`${there} --yes if that is meant\n`);
    expect(sut.sent('POST')).toEqual([]);
  });
});
