import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CheckDiff, NodeResult } from '#contracts';
import { MusterWithNodes } from '../testing/nodes.js';

const findings = [
  { service: 'agent', result: 'ok', why: '' },
  { service: 'web', result: 'drift', why: '/etc/web.conf is not as it was installed' },
] as const;
const diff: CheckDiff = {
  services: [
    { service: 'agent', parts: [] },
    {
      service: 'web',
      parts: [
        { kind: 'setting', name: 'version', lines: ['-1', '+2'] },
        { kind: 'variable', name: 'db_password', lines: ['-***', '+***'], note: 'differs in what is hidden' },
        { kind: 'template', name: 'web.conf.j2', lines: ['@@ -1 +1 @@', '-listen 80', '+listen 8080'], cut: 7 },
        { kind: 'standing', name: '/etc/web.conf', lines: ['@@ -1 +1 @@', '-listen 81', '+listen 8080'] },
      ],
    },
  ],
};
const drift = { outcome: 'drift', why: 'web drift' } as const;

describe('check --diff', () => {
  const sut = new MusterWithNodes();

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => sut.reset());

  const ended = (result: Partial<NodeResult>): void =>
    sut.on('GET /v1/jobs/j1', {
      ...{ id: 'j1', kind: 'check', desc: '', status: 'Complete', task: 'check', error: '', settled: true },
      ...{ nodes: ['a-1'], diff: true },
      results: { 'a-1': { ok: true, step: 'check', ...result } },
    });
  const check = { findings: [...findings], checksum: 'x' };

  it('asks for it, waits, and says in a pipe of each line what it is about', async () => {
    ended({ check, diff, verdict: drift });
    const { code, stdout, stderr } = await sut.call(['node', 'check', 'a-1', '--diff']);
    expect(sut.sent('POST')).toEqual([{ kind: 'check', nodes: ['a-1'], diff: true }]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^muster: check of a-1: drift: web drift\n$/m)]);
    expect(stdout.split('\n')).toEqual([
      'a-1: check: drift: web drift',
      'job j1: Complete',
      'a-1: agent: ok; the same as was set up last',
      'a-1: web: drift: /etc/web.conf is not as it was installed',
      'a-1: web: version: -1',
      'a-1: web: version: +2',
      'a-1: web: variable db_password: differs in what is hidden',
      'a-1: web: variable db_password: -***',
      'a-1: web: variable db_password: +***',
      'a-1: web: template web.conf.j2: @@ -1 +1 @@',
      'a-1: web: template web.conf.j2: -listen 80',
      'a-1: web: template web.conf.j2: +listen 8080',
      'a-1: web: template web.conf.j2: 7 more lines are left out',
      'a-1: web: /etc/web.conf on the node: @@ -1 +1 @@',
      'a-1: web: /etc/web.conf on the node: -listen 81',
      'a-1: web: /etc/web.conf on the node: +listen 8080',
      '',
    ]);
  });

  it('shows blocks in colour on a terminal, and there only', async () => {
    ended({ check, diff, verdict: drift });
    const { stdout } = await sut.call(['node', 'check', 'a-1', '--diff'], { terminal: 120 });
    const text = stdout.slice(stdout.indexOf('a-1: agent'));
    expect(text).toContain('    \u001b[31m-listen 80\u001b[0m\n    \u001b[32m+listen 8080\u001b[0m\n');
    expect(text).toContain(
      '  template web.conf.j2 \u001b[2m(- as it was set up last, + as it would be set up)\u001b[0m\n',
    );
    expect(text).toContain('(- as it stands on the node, + as it would be set up)');
  });

  it('is content where nothing differs, and gives programs all of it', async () => {
    const well = { findings: [findings[0]], checksum: 'x' };
    const pass: Partial<NodeResult> = {
      check: well,
      diff: { services: diff.services.slice(0, 1) },
      verdict: { outcome: 'pass', why: '' },
    };
    ended(pass);
    expect((await sut.call(['node', 'check', 'a-1', '--diff'])).code).toBe(0);
    const { stdout } = await sut.call(['nodes', 'check', 'a-1', '--diff', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ results: { 'a-1': { diff: pass.diff } } });
  });

  it('says why it cannot say more', async () => {
    const well = { findings: [findings[0]], checksum: 'x' };
    ended({ check: well, diff: { services: [{ service: 'agent', parts: [] }], cut: 12 }, verdict: drift });
    const { stdout } = await sut.call(['node', 'check', 'a-1', '--diff']);
    expect(stdout).toContain('a-1: the effective configuration is another, and no part of it that is known differs');
    expect(stdout).toContain('a-1: 12 lines are left out: look at the node itself\n');
    ended({ check: well, diff: { services: [{ service: 'agent', unknown: 'nobody knows', parts: [] }] } });
    expect((await sut.call(['node', 'check', 'a-1', '--diff'])).stdout).toContain('a-1: agent: nobody knows\n');
  });
});
