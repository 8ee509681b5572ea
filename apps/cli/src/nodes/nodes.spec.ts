import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MusterWithNodes, node, quiet } from '../testing/nodes.js';

describe('nodes', () => {
  const sut = new MusterWithNodes();

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => sut.reset());

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

    it('says of a node in service that it has lost a network', async () => {
      const verdict = {
        verdict: 'DEGRADED',
        networks: ['backend'],
        epoch: 1,
        seq: 1,
        at: 1,
        reason: 'Silent on backend.',
      };
      sut.on('GET /v1/nodes', { items: [node('b-2', { verdict, inService: true, reasons: [] })] });
      sut.on('GET /v1/nodes/b-2', node('b-2', { verdict, inService: true, reasons: [] }));
      const shown = { terminal: 120, env: { NO_COLOR: '1' } };
      expect((await sut.call(['nodes', 'get'], shown)).stdout).toMatch(/\bin +10\.0\.0\.1 +silent on backend\n/);
      const { stdout } = await sut.call(['node', 'get', 'b-2'], shown);
      expect(stdout).toMatch(/\n {2}verdict +DEGRADED: Silent on backend\.\n/);
    });

    it.each([{ terminal: 120, env: { NO_COLOR: '1' } }, {}])(
      'keeps what people wrote within its line (%j)',
      async (shown) => {
        const cordon = { reason: 'disk\na-1: in service\r\n\u001b]0;x', by: 'ada', at: 1 };
        const reasons = [{ code: 'CORDONED' as const, detail: 'cordoned by ada: disk\na-1: in service' }];
        sut.on('GET /v1/nodes/a-1', node('a-1', { cordon, reasons, inService: false }));
        for (const format of [[], ['-o', 'table']]) {
          const { stdout } = await sut.call(['node', 'get', 'a-1', ...format], shown);
          expect(stdout).toContain('disk a-1: in service');
          for (const made of ['\na-1: in service', '\r', '\u001b']) expect(stdout).not.toContain(made);
        }
      },
    );

    it('shows on that page what a drain has still to move', async () => {
      const cordon = { reason: 'kernel', by: 'ada', at: 1, drain: true };
      sut.on('GET /v1/nodes/a-1', node('a-1', { cordon, remaining: ['db1', 'web'] }));
      const { stdout } = await sut.call(['node', 'get', 'a-1'], { terminal: 120, env: { NO_COLOR: '1' } });
      expect(stdout).toMatch(/\n {2}draining +kernel \(ada\)\n {2}remaining +db1 web\n/);
    });
  });

  describe('--selector', () => {
    it('lets the server choose', async () => {
      await sut.call(['nodes', 'get', '-l', 'vars.rack=r1,inService']);
      expect(sut.received.map((r) => r.url)).toEqual(['/v1/nodes?selector=vars.rack%3Dr1%2CinService&limit=1000']);
    });

    it('gives an operation its nodes', async () => {
      expect(await sut.call(['nodes', 'check', '--selector', 'hostGroup=x'])).toEqual(quiet);
      expect(sut.sent('POST')).toEqual([{ kind: 'check', nodes: ['a-1', 'b-2'] }]);
    });

    it('that chooses nobody starts nothing', async () => {
      sut.on('GET /v1/nodes', { items: [] });
      const { code, stderr } = await sut.call(['nodes', 'decommission', '-l', 'vars.rack=r9', '--yes']);
      expect([code, stderr]).toEqual([1, 'muster: no node matches vars.rack=r9\n']);
      expect(sut.sent('POST')).toEqual([]);
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
});
