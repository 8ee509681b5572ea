import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultFencing, type IncidentRecord, incidentReport } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import { aStatus } from '../testing/a-status.js';
import { MusterUnderTest } from '../testing/muster.js';

describe('commands', () => {
  const sut = new MusterUnderTest();
  const dir = mkdtempSync(join(tmpdir(), 'muster-cli-commands-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const gone = (_: unknown, res: ServerResponse): unknown => res.writeHead(204).end();
  const quiet = { code: 0, stdout: '', stderr: '' };

  beforeAll(() => sut.start());
  afterAll(async () => {
    await sut.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  beforeEach(() => {
    sut.received.length = 0;
  });

  describe('workload', () => {
    const seen = {
      name: 'db1',
      desired: 'running',
      priority: 0,
      generation: 3,
      assignment: { node: 'a-1', generation: 3 },
      actual: {
        state: 'dead',
        reportAgeMs: 61_000,
        why: 'a-1 is DOWN.',
        remedy: { text: 'See by whom it is heard.', command: 'muster node why a-1' },
      },
    };

    it('shows what is beside what should be, why, and what to do', async () => {
      sut.on('GET /v1/workloads', { items: [seen] });
      const { stdout } = await sut.call(['workload', 'list']);
      expect(stdout).toContain('db1: desired: running\n');
      expect(stdout).toContain('db1: actual: dead, 61 s ago\n');
      expect(stdout).toContain('db1: why: a-1 is DOWN.\n');
      expect(stdout).toContain('db1: do: See by whom it is heard. (muster node why a-1)\n');
    });

    it('is forgotten by somebody’s word where its node was never heard', async () => {
      sut.on('DELETE /v1/workloads/db1', gone);
      expect(await sut.call(['workload', 'delete', 'db1', '--reason', 'never came'])).toEqual(quiet);
      expect(sut.last('DELETE')?.url).toBe('/v1/workloads/db1?reason=never%20came');
    });
  });

  describe('fencing report', () => {
    const line = (node: string, at: number): object => ({ node, incident: `i-${node}`, at });
    const none = { fenced: [], wouldHaveFenced: [], stopped: [], failed: [], over: [], underWay: [] };

    it('says of each dead node what was decided, the oldest first', async () => {
      const stopped = [{ ...line('b-2', 1_000), gate: 'CAP' }];
      sut.on('GET /v1/fencing/report', {
        ...{ ...none, since: 0, mode: 'observe', keptSince: 500 },
        ...{ wouldHaveFenced: [line('a-1', 2_000)], stopped },
      });
      const { stdout } = await sut.call(['fencing', 'report', '--days', '30']);
      expect(sut.last('GET')?.url).toBe('/v1/fencing/report?days=30');
      expect(stdout).toContain('mode: observe\nknown since: 1970-01-01T00:00:00.500Z');
      expect(stdout).toContain('a-1: decision: would have fenced\n');
      expect(stdout).toContain('b-2: decision: blocked by CAP\n');
      expect(stdout.indexOf('b-2: gate: CAP')).toBeLessThan(stdout.indexOf('a-1: gate: OBSERVE'));
    });

    it('tells apart what CAP or FLAPPING would have blocked, and since when it is observed', async () => {
      const observing = { since: 500, atLeast: true, wouldHaveFenced: 0, wouldHaveStopped: 1 };
      const wouldHaveStopped = [{ ...line('c-3', 1_000), gate: 'CAP' }];
      sut.on('GET /v1/fencing/report', { ...none, since: 0, mode: 'observe', observing, wouldHaveStopped });
      const { stdout } = await sut.call(['fencing', 'report']);
      expect(stdout).toContain('mode: observe since 1970-01-01T00:00:00.500Z or before\n');
      expect(stdout).toContain('c-3: decision: would have been blocked by CAP\n');
    });

    it('says of what is over how it ended, and the gate that had stopped it', async () => {
      const over = [
        { ...line('a-1', 1_000), end: 'survived', gate: 'BRAKE' },
        { ...line('b-2', 2_000), end: 'taken-back', by: 'eve' },
        { ...line('c-3', 3_000), end: 'by-verdict' },
        line('d-4', 4_000),
      ];
      sut.on('GET /v1/fencing/report', { ...none, since: 0, mode: 'enforce', over });
      const { stdout } = await sut.call(['fencing', 'report']);
      expect(stdout).toContain('a-1: decision: lived on after its off\na-1: gate: BRAKE\n');
      expect(stdout).toContain('b-2: decision: cancelled by eve\n');
      for (const node of ['c-3', 'd-4']) expect(stdout).toContain(`${node}: decision: over by itself\n`);
    });

    it('takes whole days only', async () => {
      expect((await sut.call(['fencing', 'report', '--days', 'x'])).code).toBe(2);
    });
  });

  describe('claim', () => {
    const claim = { id: 'c1', owner: 'nomad', nodes: ['a-1', 'b-2'], by: 'ada', at: 0, expiresAt: 60_000 };

    it('holds nodes, and says which', async () => {
      sut.on('POST /v1/claims', claim, 201);
      const { code, stdout } = await sut.call([
        'claim',
        'create',
        '--owner',
        'nomad',
        '--count',
        '2',
        '--ttl',
        '1m',
        '-l',
        'vars.gpu=1',
      ]);
      expect(sut.last('POST')?.body).toEqual({ owner: 'nomad', count: 2, ttl: 60, selector: 'vars.gpu=1' });
      expect(code).toBe(0);
      expect(stdout).toContain('c1: nodes: a-1 b-2\n');
      expect(stdout).toContain('c1: until: 1970-01-01T00:01:00.000Z\n');
    });

    it('is listed by owner, and given back', async () => {
      sut.on('GET /v1/claims', { items: [claim] });
      sut.on('DELETE /v1/claims/c1', gone);
      expect((await sut.call(['claim', 'list', '--owner', 'nomad', '-o', 'name'])).stdout).toBe('c1\n');
      expect(sut.last('GET')?.url).toBe('/v1/claims?owner=nomad&limit=1000');
      expect(await sut.call(['claim', 'delete', 'c1'])).toEqual(quiet);
    });
  });

  describe('storm', () => {
    const storm = {
      ...{ id: 's-1', cause: 'brake', at: 0, members: ['a-1', 'b-2'], returned: ['a-1'], rest: ['b-2'] },
      ...{ released: [], limit: 2, standsForMs: 1_000, resumesAt: 60_000, detail: 'Storm s-1 of 2 node(s).' },
    };

    it('is shown with who is back, and when fencing resumes', async () => {
      sut.on('GET /v1/storms', { items: [storm] });
      sut.on('GET /v1/storms/s-1', storm);
      expect((await sut.call(['storm', 'get', '-o', 'name'])).stdout).toBe('s-1\n');
      const { stdout } = await sut.call(['storm', 'get', 's-1']);
      expect(stdout).toContain('s-1: rest: b-2\n');
      expect(stdout).toContain('s-1: resumes: 1970-01-01T00:01:00.000Z\n');
    });

    it('is shown with its cause: a person reads of no quorum, a program its code', async () => {
      const [lost, rack] = [
        { ...storm, cause: 'blindness' },
        { ...storm, id: 's-2', cause: 'domain', domain: 'r1' },
      ];
      sut.on('GET /v1/storms', { items: [storm, lost, rack] });
      const { stdout } = await sut.call(['storm', 'get']);
      expect(stdout.match(/cause: .*/g)).toEqual(['cause: brake', 'cause: no quorum', 'cause: domain r1']);
      expect((await sut.call(['storm', 'get', '-j'])).stdout).toContain('"cause": "blindness"');
    });

    it('is shown with what is not back, and the limit that this is over', async () => {
      const rack = { ...storm, id: 's-2', limit: 2, restDomain: { name: 'r1', rest: 3, nodes: 4 } };
      sut.on('GET /v1/storms', { items: [{ ...storm, limit: 4 }, rack] });
      const { stdout } = await sut.call(['storm', 'get']);
      expect(stdout).toContain('s-1: rest: 1 (at most 4)\n');
      expect(stdout).toContain('s-2: rest: 1 (3 of r1, at most 2)\n');
    });

    it('is released for some, and says who was refused', async () => {
      sut.on('POST /v1/storms/s-1/release', { nodes: [{ node: 'a-1', ok: true }] });
      const released = await sut.call(['storm', 'release', 's-1', '--nodes', 'a-1', '--reason', 'dark']);
      expect(released).toEqual({ code: 0, stdout: 'a-1: released\n', stderr: '' });
      expect(sut.last('POST')?.body).toEqual({ reason: 'dark', nodes: ['a-1'] });
      sut.on('POST /v1/storms/s-1/confirm', { nodes: [{ node: 'b-2', ok: false, detail: 'STILL_ALIVE: it echoes' }] });
      const refused = await sut.call(['storm', 'confirm', 's-1', '--reason', 'dark']);
      expect([refused.code, refused.stdout]).toEqual([1, 'b-2: refused: STILL_ALIVE: it echoes\n']);
    });
  });

  describe('plan', () => {
    const held = {
      ...{
        about: 'incident',
        name: 'a-1',
        nodes: ['a-1'],
        does: 'waits',
        next: 'stays blocked by BRAKE',
        gate: 'BRAKE',
      },
      ...{ reason: 'Too many.', figures: [{ of: 'unhealthy nodes', count: 3, limit: 2 }] },
      again: { inMs: 500, when: 'fewer are' },
    };
    const power = {
      ...{ about: 'power', name: 'a-1', nodes: ['a-1'], does: 'waits', next: 'powers it on', reason: 'Not yet.' },
      ...{ figures: [{ of: 'ms of the power quarantine', count: 8_000, limit: 20_000 }], again: { inMs: 12_000 } },
    };
    const answer = { at: 1, conductor: 'inventory-1', token: 2, mode: 'observe', items: [held, power] };

    it('is a line for each item in a pipe: what, why, the figures, and when it is looked at again', async () => {
      sut.on('GET /v1/plan', answer);
      expect((await sut.call(['plan'])).stdout).toBe(
        'incident a-1: waits: stays blocked by BRAKE: Too many. [3 unhealthy nodes, limit 2] (again in 0.5 s, or when fewer are)\n' +
          'power a-1: waits: powers it on: Not yet. [of the power quarantine: 8.0 s of 20 s] (again in 12 s)\n',
      );
      expect((await sut.call(['plan', '-o', 'name'])).stdout).toBe('incident/a-1\npower/a-1\n');
      expect(JSON.parse((await sut.call(['plan', '--json'])).stdout)).toEqual(answer);
    });

    it('asks about one node', async () => {
      sut.on('GET /v1/plan', { ...answer, items: [] });
      expect(await sut.call(['plan', 'a-1'])).toEqual(quiet);
      expect(sut.last('GET')?.url).toBe('/v1/plan?node=a-1');
    });
  });

  describe('status in mode observe', () => {
    const answer = aStatus({ fencing: { ...defaultFencing, mode: 'observe' } });
    const unknown = '  observe  how many it would have fenced is not known: ';
    const observeLine = async (): Promise<string | undefined> => {
      sut.on('GET /v1/status', answer);
      const { stdout } = await sut.call(['status']);
      expect(stdout).toContain('nodes      5 of 5 in service\n');
      return stdout.split('\n').find((line) => line.startsWith('  observe'));
    };

    it('says so where the server cannot read what it has observed', async () => {
      sut.on('GET /v1/fencing/report', { code: 'BUS_UNAVAILABLE', detail: 'NATS does not answer' }, 503);
      expect(await observeLine()).toBe(`${unknown}NATS does not answer`);
    });

    it('says so where the server ends before its second answer, and prints the first', async () => {
      sut.on('GET /v1/fencing/report', (_: unknown, res: ServerResponse) => res.destroy());
      expect(await observeLine()).toMatch(unknown);
    });

    it('says nothing of it where a server of before does not know the question', async () => {
      sut.on('GET /v1/fencing/report', { code: 'NOT_FOUND', detail: 'no route' }, 404);
      expect(await observeLine()).toBe(undefined);
    });
  });

  describe('an incident that a gate stops', () => {
    const stopped = anIncident('a-1', { id: 'i-1', phase: 'suppressed', gate: 'BRAKE', reason: 'DOWN' });

    it('is blocked by it for people, and keeps its code for programs', async () => {
      sut.on('GET /v1/incidents', { items: [stopped] });
      sut.on('GET /v1/incidents/a-1', stopped);
      for (const words of [['list'], ['get', 'a-1']]) {
        const { stdout } = await sut.call(['incident', ...words]);
        expect(stdout).toContain('a-1: phase: blocked by BRAKE\n');
        expect(stdout).not.toContain('suppressed');
        expect((await sut.call(['incident', ...words, '-j'])).stdout).toContain('"phase": "suppressed"');
      }
    });

    it('is so for who orders something about it', async () => {
      sut.on('POST /v1/incidents/a-1/release', stopped);
      const released = await sut.call(['incident', 'release', 'a-1', '--reason', 'dark']);
      expect(released.stdout).toBe('a-1: phase: blocked by BRAKE\n');
      const past = ['incident', 'release', 'a-1', '--reason', 'dark', '--gate'];
      expect(await sut.call([...past, 'brake'])).toMatchObject({ code: 0, stderr: '' });
      expect(sut.last('POST')?.body).toEqual({ reason: 'dark', gate: 'BRAKE' });
      expect(await sut.call([...past, 'TIDE'])).toMatchObject({ code: 2 });
      const gates = [{ gate: 'BRAKE', pass: false, detail: '3 of 4' }];
      sut.on('POST /v1/nodes/a-1/fence', { incident: stopped, gates });
      const fenced = await sut.call(['node', 'fence', 'a-1', '--reason', 'dark', '--yes']);
      expect(fenced.stdout).toContain('a-1: incident: i-1 blocked by BRAKE\n');
    });
  });

  describe('incident report', () => {
    const incident: IncidentRecord = {
      ...{ id: 'i-1', node: 'a-1', phase: 'closed', cause: 'manual', by: 'ann', reason: 'drill', openedAt: 0 },
      ...{ updatedAt: 1, conductor: 1, level: 0, attempt: 1, gates: [], commands: [], recovery: [], steps: [] },
    };
    const found = incidentReport({ incident, events: [], jobs: [], cut: false });

    it('is a page of Markdown, or JSON on request', async () => {
      sut.on('GET /v1/incidents/a-1/report', found);
      const { code, stdout } = await sut.call(['incident', 'report', 'a-1']);
      expect([code, stdout.split('\n')[0]]).toEqual([0, '# Incident i-1: a-1']);
      for (const json of [['--format', 'json'], ['-o', 'json'], ['-j']])
        expect(JSON.parse((await sut.call(['incident', 'report', 'a-1', ...json])).stdout)).toEqual(found);
      expect((await sut.call(['incident', 'report', 'a-1', '--format', 'pdf'])).code).toBe(2);
    });
  });

  describe('agent token', () => {
    const token = { id: 'ab12', by: 'ada', createdAt: 0, expiresAt: 60_000, uses: 2, usedBy: ['host1-SN1'] };

    it('stands alone on stdout, to be sent to a host', async () => {
      sut.on('POST /v1/agents/tokens', { ...token, token: 's3cret' }, 201);
      const { stdout, stderr } = await sut.call(['agent', 'token', 'create', '--ttl', '1h', '--uses', '2']);
      expect([stdout, sut.last('POST')?.body]).toEqual(['s3cret\n', { ttl: 3600, uses: 2 }]);
      expect(stderr).toMatch(/^muster: agent token ab12, until .*, for 2 nodes: it is not shown again\n$/);
      sut.on('POST /v1/agents/tokens', { ...token, uses: 1, token: 's3cret' }, 201);
      expect((await sut.call(['agent', 'token', 'create'])).stderr).toContain(', for 1 node: it is not shown again');
      const json = await sut.call(['agent', 'token', 'create', '-o', 'json']);
      expect(JSON.parse(json.stdout)).toMatchObject({ id: 'ab12', token: 's3cret' });
      expect((await sut.call(['agent', 'token', 'create', '--uses', '0'])).code).toBe(2);
    });

    it('says that it is lost, where the answer that held it was', async () => {
      sut.on('POST /v1/agents/tokens', token, 201);
      const { code, stdout, stderr } = await sut.call(['agent', 'token', 'create']);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('its secret was lost on the way');
    });

    it('is listed with the nodes that it let in, and ended', async () => {
      sut.on('GET /v1/agents/tokens', { items: [token] });
      sut.on('DELETE /v1/agents/tokens/ab12', gone);
      expect((await sut.call(['agent', 'token', 'list'])).stdout).toContain('ab12: uses: 1 of 2\n');
      expect(await sut.call(['agent', 'token', 'delete', 'ab12'])).toEqual(quiet);
    });
  });

  describe('agent key', () => {
    const view = { phase: 'spread', keys: ['1f3a9c2e', '77aa01bc'], by: 'ann', startedAt: 0, changedAt: 0, nodes: 3 };

    it('is exchanged, and says what that waits for', async () => {
      const waitsFor = [
        { name: 'host1-SN1', keys: ['1f3a9c2e'], heard: true },
        { name: 'host2-SN2', heard: false },
      ];
      sut.on('POST /v1/agents/key/rotate', { ...view, waitsFor });
      const { code, stdout } = await sut.call(['agent', 'key', 'rotate', '--reason', 'stolen']);
      expect([code, sut.last('POST')?.body]).toEqual([0, { reason: 'stolen' }]);
      expect(stdout).toMatch(
        /^step 1 of 3: .* by ann\n1f3a9c2e signs, 77aa01bc is accepted too\nwaits for \(2; nodes: 3\):\n/,
      );
      expect(stdout).toContain('  host1-SN1: has 1f3a9c2e\n');
      expect(stdout).toContain('  host2-SN2: has not said what it has, and nobody hears it (--drop-absent)\n');
      await sut.call(['agent', 'key', 'rotate', '--drop-absent']);
      expect(sut.last('POST')?.body).toEqual({ dropAbsent: true });
    });

    it('is told of: by what it is known, how far its exchange is, and who has another one', async () => {
      const done = { ...view, phase: 'done', keys: ['77aa01bc'], without: ['host2-SN2'] };
      sut.on('GET /v1/agents/key', { ...done, waitsFor: [] });
      const { stdout } = await sut.call(['agent', 'key', 'status']);
      expect(stdout).toMatch(
        /^exchanged: .*\n77aa01bc signs\nnot waited for: host2-SN2\nnobody is known to have another one/,
      );
      sut.on('GET /v1/agents/key', { ...done, waitsFor: [{ name: 'host2-SN2', keys: ['1f3a9c2e'], heard: true }] });
      expect((await sut.call(['agent', 'key', 'status'])).stdout).toContain(
        'with other keys (1; nodes: 3):\n  host2-SN2: has',
      );
      const json = await sut.call(['agent', 'key', 'status', '-o', 'json']);
      expect(JSON.parse(json.stdout)).toMatchObject({ phase: 'done', keys: ['77aa01bc'] });
      sut.on('GET /v1/agents/key', { phase: 'file', keys: ['1f3a9c2e'], nodes: 3, waitsFor: [] });
      expect((await sut.call(['agent', 'key', 'status'])).stdout).toMatch(/^never exchanged: /);
    });
  });

  describe('node life-sign', () => {
    it('waives it with a reason only, and takes that back', async () => {
      const path = '/v1/nodes/host1-SN1/life-sign-waiver';
      sut.on(`PUT ${path}`, { name: 'host1-SN1' });
      sut.on(`DELETE ${path}`, { name: 'host1-SN1' });
      const none = ['node', 'life-sign', 'host1-SN1', 'none'];
      expect(await sut.call(none)).toMatchObject({ code: 1 });
      expect(await sut.call([...none, '--reason', 'a firewall'])).toMatchObject({ code: 0, stderr: '' });
      expect(await sut.call(['node', 'life-sign', 'host1-SN1', 'required'])).toMatchObject({ code: 0, stderr: '' });
    });
  });

  describe('node release', () => {
    const path = '/v1/nodes/host1-SN1';
    const accept = ['node', 'release', 'host1-SN1', '--accept'];

    it('accepts what the last check has found by now, and nothing without a reason', async () => {
      sut.on(`GET ${path}`, { name: 'host1-SN1', lastCheck: { job: 'job-7' } });
      const findings = [{ service: 'web', result: 'drift', why: '/etc/web.conf is another' }];
      sut.on(`PUT ${path}/accepted-drift`, { name: 'host1-SN1', acceptedDrift: { findings } });
      expect(await sut.call(accept)).toMatchObject({ code: 1 });
      const { code, stderr } = await sut.call([...accept, '--reason', 'a trial', '--until', '1999000000000']);
      expect([code, stderr]).toEqual([0, '']);
      expect(sut.last('PUT')?.body).toEqual({ reason: 'a trial', until: 1_999_000_000_000, check: 'job-7' });
      expect(await sut.call([...accept, '--reason', 'x', '--until', '0s'])).toMatchObject({ code: 2 });
    });
    it('says in its help that it is about drift, and which command lets an incident past its gate', async () => {
      const { stdout } = await sut.call(['node', 'release', '--help']);
      const text = stdout.replace(/\s+/g, ' ');
      expect(text).toContain('accept the drift that the last check of a node found');
      expect(text).toContain('muster incident release');
    });
    it('takes it back, and asks for one of both', async () => {
      sut.on(`DELETE ${path}/accepted-drift`, { name: 'host1-SN1' });
      expect(await sut.call(['node', 'release', 'host1-SN1', '--withdraw'])).toMatchObject({ code: 0 });
      expect(await sut.call([...accept, '--withdraw', '--reason', 'x'])).toMatchObject({ code: 2 });
      expect(await sut.call(['node', 'release', 'host1-SN1'])).toMatchObject({ code: 2 });
    });
  });

  describe('node revoke', () => {
    it('says that NATS refuses the agent, or why not yet', async () => {
      sut.on('POST /v1/nodes/host1-SN1/revoke', { node: 'host1-SN1', users: 1 });
      const revoke = ['node', 'revoke', 'host1-SN1', '--reason', 'stolen'];
      expect(await sut.call(revoke)).toMatchObject({ code: 0, stderr: '' });
      expect(sut.last('POST')?.body).toEqual({ reason: 'stolen' });
      sut.on('POST /v1/nodes/host1-SN1/revoke', { node: 'host1-SN1', users: 0, pending: 'no key' });
      const { code, stderr } = await sut.call([...revoke, '--force', '--yes']);
      expect([code, sut.last('POST')?.body]).toEqual([1, { reason: 'stolen', force: true }]);
      expect(stderr).toContain('host1-SN1 is no member any more, but NATS could not be told: no key');
      sut.on('POST /v1/nodes/host1-SN1/revoke', { node: 'host1-SN1', users: 0, unregistered: true });
      const forced = await sut.call([...revoke, '--force', '--yes']);
      expect([forced.code, forced.stderr]).toEqual([0, expect.stringContaining('no node is called host1-SN1; users')]);
    });
  });

  describe('token', () => {
    const token = { id: 'ab12', name: 'ci', role: 'viewer', by: 'ada', createdAt: 0 };

    it('stands alone on stdout, so that $(…) is the token', async () => {
      sut.on('POST /v1/tokens', { ...token, token: 's3cret' }, 201);
      const { stdout, stderr } = await sut.call(['token', 'create', 'ci', '--role', 'viewer', '--ttl', '90d']);
      expect(stdout).toBe('s3cret\n');
      expect(stderr).toBe('muster: token ab12 of ci, role viewer: keep it, it is not shown again\n');
      expect(sut.last('POST')?.body).toEqual({ name: 'ci', role: 'viewer', ttl: 7_776_000 });
      expect((await sut.call(['token', 'create', 'ci', '--role', 'root'])).code).toBe(2);
    });

    it('that was lost on the way is said to be lost', async () => {
      sut.on('POST /v1/tokens', token, 201);
      const { code, stdout, stderr } = await sut.call(['token', 'create', 'ci', '--role', 'viewer']);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('delete it, and make another')]);
    });

    it('is listed without its secret, and ended', async () => {
      sut.on('GET /v1/tokens', { items: [token] });
      sut.on('DELETE /v1/tokens/ab12', gone);
      expect((await sut.call(['token', 'list'])).stdout).toContain('ab12: role: viewer\n');
      expect(await sut.call(['token', 'delete', 'ab12'])).toEqual(quiet);
    });
  });

  describe('settings', () => {
    const settings = {
      cluster: 'prod',
      detection: { profile: 'lan', interval: 500 },
      hostGroups: [{ name: 'web' }],
      revision: 4,
    };
    beforeEach(() => {
      sut.on('GET /v1/settings', settings);
      sut.on('PATCH /v1/settings', settings);
    });

    it('are one fact a line', async () => {
      expect((await sut.call(['settings', 'get'])).stdout).toBe(
        'cluster: prod\ndetection.profile: lan\ndetection.interval: 500\nhostGroups: [{"name":"web"}]\nrevision: 4\n',
      );
      const { code, stderr } = await sut.call(['settings', 'get', '-o', 'name']);
      expect([code, stderr]).toEqual([2, expect.stringContaining('-o name')]);
    });

    it('are changed by what is assigned', async () => {
      expect(
        await sut.call(['settings', 'set', 'detection.interval=250', 'witness=10.0.0.1:80', 'webhooks=[]']),
      ).toEqual(quiet);
      expect(sut.last('PATCH')?.body).toEqual({ detection: { interval: 250 }, witness: '10.0.0.1:80', webhooks: [] });
    });

    it('from a file go onto the revision that the file was made from', async () => {
      const { stdout } = await sut.call(['settings', 'get', '-o', 'yaml']);
      await sut.call(['settings', 'set', '--file', file('settings.yaml', stdout.replace('500', '750'))]);
      const { revision: _, ...patch } = { ...settings, detection: { profile: 'lan', interval: 750 } };
      expect(sut.last('PATCH')?.body).toEqual(patch);
      expect(sut.last('PATCH')?.headers['if-match']).toBe('"4"');
    });

    it.each([['a: [\n'], ['- 1\n'], ['']])('from a file with %j are refused in one line', async (text) => {
      const { code, stderr } = await sut.call(['settings', 'set', '--file', file('bad.yaml', text)]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^muster: .*bad\.yaml: .*\n$/)]);
      expect(sut.last('PATCH')).toBeUndefined();
    });
  });

  it('gives the configuration back as it was got, from stdin too', async () => {
    const config = { ansible: { user: 'root' }, manager: { addr: '127.0.0.1:9007' } };
    sut.on('GET /config', config);
    sut.on('POST /config', (_: unknown, res: ServerResponse) => res.end());
    const { stdout } = await sut.call(['config', 'get', '--json']);
    expect(await sut.call(['config', 'set', '-'], { stdin: stdout })).toEqual(quiet);
    await sut.call(['config', 'set', file('config.json', JSON.stringify({ config }))]);
    expect(sut.received.filter((r) => r.method === 'POST').map((r) => r.body)).toEqual([{ config }, { config }]);
    expect((await sut.call(['config', 'get'])).stdout).toBe(
      'ansible:\n    user: root\nmanager:\n    addr: 127.0.0.1:9007\n',
    );
  });

  it('reads logs from any piece, and follows them to the end of the job', async () => {
    const job = { id: 'j1', kind: 'check', nodes: ['a-1'], status: 'Errored', error: 'boom', results: {} };
    sut.on('GET /v1/jobs/active', job);
    sut.on('GET /v1/jobs/j1', job);
    sut.on('GET /v1/jobs/j1/log', (_: unknown, res: ServerResponse) => res.end('PLAY\n'));
    expect(await sut.call(['job', 'logs', 'active', '--from', '7'])).toEqual({ ...quiet, stdout: 'PLAY\n' });
    expect(sut.received.at(-1)?.url).toBe('/v1/jobs/j1/log?from=7');
    const followed = await sut.call(['job', 'logs', 'active', '-f']);
    expect(followed).toEqual({ code: 1, stdout: 'PLAY\n', stderr: 'muster: job j1 failed: boom\n' });
    expect((await sut.call(['job', 'get', 'active', '-o', 'yaml'])).stdout).toMatch(/^id: j1\n/);
  });

  describe('a log that is followed, and breaks off', () => {
    const job = { id: 'j1', kind: 'check', nodes: ['a-1'], status: 'Complete', results: {} };
    const breaksOff = (res: ServerResponse, text: string): void => void res.write(text, () => res.destroy());

    it('goes on where it was', async () => {
      sut.on('GET /v1/jobs/j1', job);
      let asked = 0;
      sut.on('GET /v1/jobs/j1/log', (_: unknown, res: ServerResponse) => {
        asked += 1;
        if (asked === 1) breaksOff(res, 'PLAY\nTA');
        else if (asked === 2) breaksOff(res, 'PLAY\n');
        else res.end('PLAY\nTASK\n');
      });
      const { code, stdout, stderr } = await sut.call(['job', 'logs', 'j1', '-f']);
      expect({ code, stdout, asked }).toEqual({ code: 0, stdout: 'PLAY\nTASK\n', asked: 3 });
      expect(stderr).toMatch(/^(muster: the log broke off; going on with it\. .*\n){2}$/);
    });

    it('goes on at the next one where a gateway that stops has ended it properly', async () => {
      let asked = 0;
      const states = ['Running', 'Running', 'Errored'];
      sut.on('GET /v1/jobs/j1', (_: unknown, res: ServerResponse) => {
        const now = { ...job, status: states[asked], error: asked < 2 ? '' : 'boom' };
        res.setHeader('content-type', 'application/json').end(JSON.stringify(now));
      });
      sut.on('GET /v1/jobs/j1/log', (_: unknown, res: ServerResponse) => {
        asked += 1;
        res.end(asked === 1 ? 'PLAY\nTA' : 'PLAY\nTASK\n');
      });
      expect(await sut.call(['job', 'logs', 'j1', '-f'])).toEqual({
        code: 1,
        stdout: 'PLAY\nTASK\n',
        stderr: 'muster: job j1 failed: boom\n',
      });
      expect(asked).toBe(2);
    });

    it('ends in one line where nobody gives the rest', async () => {
      sut.on('GET /v1/jobs/j1', job);
      let asked = 0;
      sut.on('GET /v1/jobs/j1/log', (_: unknown, res: ServerResponse) => {
        asked += 1;
        if (asked === 1) breaksOff(res, 'PLAY\n');
        else res.destroy();
      });
      const { code, stdout, stderr } = await sut.call(['job', 'logs', 'j1', '-f']);
      expect({ code, stdout }).toEqual({ code: 1, stdout: 'PLAY\n' });
      expect(stderr.split('\n')).toEqual([
        expect.stringContaining('going on with it') as string,
        expect.stringMatching(/^muster: /) as string,
        '',
      ]);
    });
  });

  it('shows drivers with who offers them, and who misses them', async () => {
    sut.on('GET /v1/drivers', {
      items: [{ driver: 'ansible', service: 'provisioner', workers: ['p-1'] }],
      missing: [{ driver: 'exec', nodes: ['a-1', 'b-2'] }],
    });
    const { stdout } = await sut.call(['drivers']);
    expect(stdout).toContain('ansible: offered by: p-1\nansible: missed by: -\n');
    expect(stdout).toContain('exec: offered by: nobody\nexec: missed by: a-1 b-2\n');
  });

  it('acknowledges an alarm with a note', async () => {
    sut.on('POST /v1/alarms/drift%3Da-1/ack', { id: 'drift=a-1' });
    expect(await sut.call(['alarms', 'ack', 'drift=a-1', '--note', 'on it'])).toEqual(quiet);
    expect(sut.last('POST')?.body).toEqual({ note: 'on it' });
  });

  it('says in one line that something else answers than Muster', async () => {
    sut.on('GET /v1/workers', (_: unknown, res: ServerResponse) => res.end('<html>'));
    const { code, stderr } = await sut.call(['workers']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^muster: .* does not speak Muster's API: .*\n$/)]);
  });
});
