import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import type { Received } from '../testing/muster.js';
import { bmc, MusterWithNodes, node, quiet } from '../testing/nodes.js';

describe('power', () => {
  const sut = new MusterWithNodes();

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => sut.reset());

  describe('power devices', () => {
    const add = ['node', 'power-device', 'add', 'a-1', 'pdu', '--driver', 'ipmitool', '--address', '10.2.0.9'];

    it('are added on the revision that was read; the password comes from a file, the others keep theirs', async () => {
      const password = ['--level', '2', '--option', 'plug=3', '--password-file', sut.file('pw', 's3cret\n')];
      expect(await sut.call([...add, ...password])).toEqual(quiet);
      const { secret: _, ...others } = bmc;
      const device = {
        id: 'pdu',
        driver: 'ipmitool',
        address: '10.2.0.9',
        options: { plug: '3' },
        password: 's3cret',
      };
      expect(sut.sent('PATCH')).toEqual([{ powerLevels: [[others], [device]] }]);
      expect(sut.last('PATCH')?.headers['if-match']).toBe('"7"');
    });

    it('are changed, with the password from stdin, and taken away', async () => {
      const change = ['--address', '10.2.0.8', '--port', '6230', '--password-stdin'];
      await sut.call(['node', 'power-device', 'set', 'a-1', 'bmc', ...change], { stdin: 'n3w\n' });
      await sut.call(['node', 'power-device', 'remove', 'a-1', 'bmc']);
      expect(sut.sent('PATCH')).toEqual([
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
      expect(sut.sent('PATCH')).toHaveLength(4);
    });

    it.each([
      [[...add], 'say --level 1 for one that must be off as well, or --level 2 for one to try where they fail'],
      [[...add, '--level', '3'], 'the next free level is 2'],
      [['node', 'power-device', 'remove', 'a-1', 'ipdu'], 'no power device "ipdu"; it has 1: bmc'],
      [[...add, '--level', '2', '--password-file', '/nowhere/pw'], '/nowhere/pw: no such file'],
    ])('%j changes nothing', async (args, words) => {
      const { code, stderr } = await sut.call(args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
      expect(sut.sent('PATCH')).toEqual([]);
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
      const proven = {
        id: 'bmc',
        standing: 'unproven',
        identity: { result: 'unproven', why: 'it tells nothing', at: 1, basis: 'b' },
      };
      sut.on('POST /v1/nodes/a-1/identify', { devices: [proven, { id: 'pdu', standing: 'unproven', unread: 'r' }] });
      const { code, stdout, stderr } = await sut.call(['node', 'power-device', 'test', 'a-1']);
      expect(stdout).toBe(
        'bmc: power: on\nbmc: identity: unproven: it tells nothing\nbmc: detail:\n' +
          'pdu: power: unknown\npdu: identity: unproven: not compared yet\npdu: detail: BMC_TIMEOUT: no answer in 6 s\n',
      );
      expect([code, stderr]).toEqual([1, 'muster: a-1: the power cannot be read through pdu\n']);
      expect((await sut.call(['node', 'power-device', 'test', 'a-1', 'bmc'])).code).toBe(0);
      expect((await sut.call(['node', 'power', 'status', 'a-1'])).code).toBe(0);
    });
  });

  it('tests whose a power device is: exit 1 where it is another machine’s, until somebody answers for it', async () => {
    const found = { result: 'mismatch', why: 'it is that of b-1', at: 1, basis: 'b' };
    sut.on('GET /v1/nodes/a-1/power', { devices: [{ id: 'bmc', power: 'on' }] });
    const said = { id: 'bmc', standing: 'mismatch', identity: found };
    sut.on('POST /v1/nodes/a-1/identify', { devices: [said] });
    const { code, stderr } = await sut.call(['node', 'power-device', 'test', 'a-1']);
    expect([code, stderr]).toEqual([1, expect.stringContaining("bmc is another machine's: it is that of b-1")]);
    sut.on('POST /v1/nodes/a-1/power-devices/bmc/acknowledge', { name: 'a-1' });
    const answer = ['node', 'power-device', 'acknowledge', 'a-1', 'bmc'];
    expect((await sut.call([...answer, '--reason', 'new board'])).code).toBe(0);
    expect(sut.sent('POST').at(-1)).toEqual({ reason: 'new board' });
    expect((await sut.call(answer)).code).toBe(2);
  });

  it('switches power with a reason; what ends workloads needs a yes', async () => {
    sut.on('POST /v1/nodes/a-1/power', { node: 'a-1', action: 'off', incident: 'i1' }, 202);
    sut.on('GET /v1/workloads', { items: [{ name: 'db1', assignment: { node: 'a-1', generation: 1 } }] });
    for (const action of ['off', 'soft', 'cycle']) {
      const { code, stderr } = await sut.call(['node', 'power', action, 'a-1', '--reason', 'r']);
      expect([code, stderr]).toEqual([1, expect.stringContaining('repeat with --yes')]);
    }
    expect(sut.sent('POST')).toEqual([]);
    expect((await sut.call(['node', 'power', 'off', 'a-1', '--reason', 'r', '--yes', '-o', 'name'])).stdout).toBe(
      'i1\n',
    );
    expect((await sut.call(['node', 'power', 'on', 'a-1', '--reason', 'r'])).code).toBe(0);
    expect((await sut.call(['node', 'power', 'on', 'a-1'])).code).toBe(2);
    expect(sut.sent('POST')).toEqual([
      { action: 'off', reason: 'r' },
      { action: 'on', reason: 'r' },
    ]);
  });

  describe('with --wait', () => {
    const cut = ['node', 'power', 'off', 'a-1', '--reason', 'smoke', '--wait'];
    const incident = (phase: string, steps: string[], more: object = {}): object => ({
      id: 'i1',
      node: 'a-1',
      phase,
      cause: 'manual',
      reason: 'smoke',
      openedAt: 0,
      gates: [],
      commands: [],
      recovery: [],
      steps: steps.map((step, i) => ({ phase: step, at: i * 1000, detail: 'd' })),
      ...more,
    });
    beforeEach(() => sut.on('POST /v1/nodes/a-1/power', { node: 'a-1', action: 'off', incident: 'i1' }, 202));

    it('an off tells its steps until it is proven', async () => {
      const looks = [incident('fencing', ['open', 'fencing']), incident('recovered', ['open', 'fencing', 'fenced'])];
      sut.on('GET /v1/incidents/a-1', (_: Received, res: ServerResponse) =>
        res.setHeader('content-type', 'application/json').end(JSON.stringify(looks.shift())),
      );
      const { code, stdout } = await sut.call(cut);
      expect([code, stdout]).toEqual([
        0,
        'a-1: step: +0.00 s open: d\na-1: step: +1.00 s fencing: d\na-1: step: +2.00 s fenced: d\n',
      ]);
    });

    it.each([
      ['suppressed', { gate: 'LIFE_SIGN' }, 'blocked by LIFE_SIGN: see muster incident get a-1'],
      ['failed', {}, 'the fencing ended as failed'],
      ['survived', {}, 'the fencing ended as survived'],
      ['recovered', { id: 'i2' }, 'another incident has followed i1'],
    ])('an off that ends as %s %j fails', async (phase, more, words) => {
      sut.on('GET /v1/incidents/a-1', incident(phase, ['open'], more));
      const { code, stderr } = await sut.call(cut);
      expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
    });

    it('none of it: the incident is named, for accepted is not off', async () => {
      expect((await sut.call(cut.slice(0, -1))).stdout).toBe('a-1: incident: i1 (muster incident get a-1)\n');
    });
  });

  describe('a drill', () => {
    const drill = ['node', 'drill', 'a-1', '--reason', 'new rack', '--yes'];
    const shown = (result: object): object => ({
      ...{ id: 'i1', node: 'a-1', phase: 'recovered', cause: 'manual', reason: 'Drill: new rack', openedAt: 0 },
      ...{ gates: [], commands: [], recovery: [], steps: [], bootId: 'boot-1', drill: { at: 0, result } },
    });
    beforeEach(() => {
      const drained = { by: 'ann', reason: 'Drill: new rack', at: 1, drain: true, drained: 2 };
      const looks = [{}, { cordon: drained, remaining: [] }];
      sut.on('GET /v1/nodes/a-1', (_: Received, res: ServerResponse) => {
        const look = looks.length > 1 ? looks.shift() : looks[0];
        res.setHeader('content-type', 'application/json');
        res.end(JSON.stringify(node('a-1', { state: 'Discovered', bootId: 'boot-2', ...look })));
      });
      sut.on('PUT /v1/nodes/a-1/cordon', node('a-1'));
      sut.on('DELETE /v1/nodes/a-1/cordon', node('a-1'));
      sut.on('POST /v1/nodes/a-1/drill', { id: 'i1', node: 'a-1' }, 202);
    });

    it('drains, switches off and on, tells what it has shown, and takes the node back', async () => {
      sut.on('GET /v1/incidents/a-1', shown({ ok: true, at: 1, detail: 'It fell silent with the off.' }));
      const { code, stdout } = await sut.call(drill);
      expect(code).toBe(0);
      expect(stdout).toContain('a-1: proven by drill of level 1: It fell silent with the off.');
      expect(sut.sent('PUT')).toEqual([{ reason: 'Drill: new rack', drain: true }]);
      expect(sut.sent('POST')).toEqual([{ reason: 'new rack' }]);
      expect(sut.sent('DELETE')).toHaveLength(1);
    });

    it('of a level names it, from 1', async () => {
      sut.on('GET /v1/incidents/a-1', shown({ ok: true, at: 1, detail: 'It fell silent with the off.' }));
      expect((await sut.call([...drill, '--level', '2'])).code).toBe(0);
      expect(sut.sent('POST')).toEqual([{ reason: 'new rack', level: 2 }]);
    });

    it('that shows nothing fails', async () => {
      sut.on('GET /v1/incidents/a-1', shown({ ok: false, at: 1, detail: 'Nobody saw it.' }));
      const { code, stderr } = await sut.call(drill);
      expect([code, stderr]).toEqual([1, expect.stringContaining('shows nothing: Nobody saw it.')]);
    });

    describe('after a commission', () => {
      const commission = ['nodes', 'commission', 'a-1', 'b-2', '-g', 'web', '--prove-power'];
      const job = { id: 'j1', kind: 'commission', desc: '', task: '', error: '', nodes: ['a-1', 'b-2'], settled: true };
      const ended = (status: string): void =>
        sut.on('GET /v1/jobs/j1', { ...job, status, results: { 'a-1': { ok: true, step: 'site' } } });

      it('proves the devices of each, one after the other, once all have been set up', async () => {
        ended('Complete');
        sut.on('GET /v1/incidents/a-1', shown({ ok: true, at: 1, detail: 'It fell silent with the off.' }));
        const { code, stdout } = await sut.call(['nodes', 'commission', 'a-1', '-g', 'web', '--prove-power']);
        expect([code, stdout]).toEqual([0, expect.stringContaining('a-1: proven by drill of level 1: It fell silent')]);
        expect(sut.sent('POST')).toEqual([
          { kind: 'commission', nodes: ['a-1'], hostGroup: 'web' },
          { reason: 'commissioned' },
        ]);
        expect(sut.sent('PUT')).toEqual([{ reason: 'Drill: commissioned', drain: true }]);
      });

      describe('of a node with two fencing levels', () => {
        const pdu = { ...bmc, id: 'pdu' };
        /** Each look shows one more of what is still to be waited for; the last one stays. */
        const looks = (...more: object[]): void => {
          const left = [...more];
          sut.on('GET /v1/nodes/a-1', (_: Received, res: ServerResponse) => {
            const look = left.length > 1 ? left.shift() : left[0];
            res.setHeader('content-type', 'application/json');
            const two = { powerLevels: [[bmc], [], [pdu]], state: 'Discovered', bootId: 'boot-2' };
            res.end(JSON.stringify(node('a-1', { ...two, ...look })));
          });
        };
        const drained = { cordon: { by: 'ann', reason: 'Drill: commissioned', at: 1, drain: true, drained: 2 } };
        const checking = { ...drained, reasons: [{ code: 'CORDONED' }, { code: 'PENDING_RETURN' }] };
        const drills = (): unknown[] => sut.sent('POST').slice(1);
        const call = () => sut.call(['nodes', 'commission', 'a-1', '-g', 'web', '--prove-power']);

        it('proves every level, each once the node is back, and takes it out of its cordon at the end', async () => {
          ended('Complete');
          looks({}, drained, drained, drained, checking, drained);
          let busy = 1;
          sut.on('POST /v1/nodes/a-1/drill', (_: Received, res: ServerResponse) => {
            const refused = drills().length === 2 && busy-- > 0;
            res.writeHead(refused ? 409 : 202, { 'content-type': 'application/json' });
            res.end(
              JSON.stringify(refused ? { code: 'NODE_BUSY', detail: 'leave it alone' } : { id: 'i1', node: 'a-1' }),
            );
          });
          sut.on('GET /v1/incidents/a-1', shown({ ok: true, at: 1, detail: 'It fell silent with the off.' }));
          const { code, stdout } = await call();
          expect(code).toBe(0);
          const lines = stdout.split('\n').filter((l) => l.includes('drill of level'));
          expect(lines).toEqual([
            'a-1: drill of level 1 (1 of 2)',
            'a-1: proven by drill of level 1: It fell silent with the off.',
            'a-1: drill of level 3 (2 of 2)',
            'a-1: proven by drill of level 3: It fell silent with the off.',
          ]);
          const second = { reason: 'commissioned', level: 3 };
          expect(drills()).toEqual([{ reason: 'commissioned' }, second, second]);
          expect([sut.sent('PUT'), sut.sent('DELETE')]).toEqual([
            [{ reason: 'Drill: commissioned', drain: true }],
            [undefined],
          ]);
        });

        it('ends with the first level that shows nothing: the others are named, and it stays cordoned', async () => {
          ended('Complete');
          looks({}, drained);
          sut.on('GET /v1/incidents/a-1', shown({ ok: false, at: 1, detail: 'Nobody saw it.' }));
          const { code, stderr } = await call();
          expect([code, stderr]).toEqual([
            1,
            expect.stringContaining('the drill of level 1 shows nothing: Nobody saw it.'),
          ]);
          expect(stderr).toContain('muster: not drilled: a-1 by level 3');
          expect(stderr).toContain('muster node uncordon a-1');
          expect([drills().length, sut.sent('DELETE')]).toEqual([1, []]);
        });

        it('ends where the node does not come back from a drill', async () => {
          ended('Complete');
          looks({}, drained, drained, drained, { ...checking, pendingReturn: { held: 'drift, needs operator' } });
          sut.on('GET /v1/incidents/a-1', shown({ ok: true, at: 1, detail: 'It fell silent with the off.' }));
          const { code, stderr } = await call();
          expect([code, stderr]).toEqual([1, expect.stringContaining('a-1 does not come back from its drill: drift')]);
          expect(drills()).toHaveLength(1);
        });
      });

      it('ends with the first that shows nothing, and names those that are left', async () => {
        ended('Complete');
        sut.on('GET /v1/incidents/a-1', shown({ ok: false, at: 1, detail: 'Nobody saw it.' }));
        const { code, stderr } = await sut.call(commission);
        expect([code, stderr]).toEqual([1, expect.stringContaining('shows nothing: Nobody saw it.')]);
        expect(stderr).toContain('muster: not drilled: b-2');
        expect(sut.sent('POST')).toHaveLength(2);
      });

      it('is none where they were not set up', async () => {
        ended('Errored');
        expect((await sut.call(commission)).code).toBe(1);
        expect(sut.sent('POST')).toHaveLength(1);
      });
    });

    it('that is refused says that the node stays cordoned', async () => {
      sut.on('POST /v1/nodes/a-1/drill', { code: 'NOT_DISCOVERED', detail: 'a-1 is not UP' }, 409);
      const { code, stderr } = await sut.call(drill);
      expect([code, stderr]).toEqual([1, expect.stringContaining('muster node uncordon a-1')]);
    });
  });
});
