import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultSettings } from '#contracts';
import { createProgram } from '../program.js';
import { fakeIo } from '../testing/muster.js';
import { MusterWithNodes, node } from '../testing/nodes.js';
import type { Finding } from './finding.js';

describe('muster doctor', () => {
  const sut = new MusterWithNodes();
  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => {
    sut.reset();
    sut.on('GET /v1/nodes', { items: [node('a-1', { enrolled: true })] });
    sut.on('GET /v1/nodes/a-1/power', { devices: [{ id: 'bmc', power: 'unknown', code: 'BMC_TIMEOUT' }] });
    sut.on('GET /v1/status', { workers: [], missingDrivers: [] });
    sut.on('GET /v1/settings', defaultSettings('muster'));
    sut.on('GET /v1/tokens', { code: 'FORBIDDEN', detail: 'this needs role admin' }, 403);
    sut.on('GET /v1/agents/tokens', { code: 'FORBIDDEN', detail: 'this needs role admin' }, 403);
    sut.on('GET /v1/agents/key', { phase: 'file', keys: [], nodes: 1, waitsFor: [] });
    sut.on('GET /v1/diagnosis', {
      version: '0.1.0',
      at: 0,
      bus: { configured: 1, replicas: 1, servers: { failed: 'no key' }, streams: { items: [] } },
      agents: [{ node: 'a-1' }],
      members: 1,
      domains: { rack1: 1 },
    });
  });
  const call = (args: string[] = [], o: Parameters<typeof sut.call>[1] = {}) =>
    sut.call(['doctor', '--dir', '/nowhere', ...args], o);

  it('says in a pipe each line with its state, its check, whose it is and what to do; the worst first', async () => {
    const { code, stdout } = await call();
    expect(code).toBe(2);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^bad /);
    expect(lines).toContain(
      'bad     bmc.answer    a-1/bmc: no answer at 10.2.0.1 (BMC_TIMEOUT); it was never read → muster node power-device test a-1',
    );
    expect(stdout).toMatch(/^unknown token\.api +tokens: not asked: this needs role admin → /m);
    expect(stdout).toMatch(/^skipped file\.rights +this machine: no muster\.yaml here/m);
    expect(lines.at(-1)).toMatch(/^doctor: \d+ bad, /);
    expect(stdout).not.toContain('\u001b');
  });

  it('leaves out on a terminal what is well, and counts it', async () => {
    const { stdout } = await call([], { terminal: 200 });
    expect(stdout).not.toMatch(/skipped.*file\.rights/);
    expect(stdout).toMatch(/1 skipped/);
    expect((await call(['--all'], { terminal: 200 })).stdout).toMatch(/file\.rights/);
  });

  it('is one object for programs', async () => {
    const { code, stdout } = await call(['--json']);
    const answer = JSON.parse(stdout) as { exitCode: number; findings: Finding[] };
    expect(answer.exitCode).toBe(code);
    for (const f of answer.findings)
      expect([f.check, f.state, f.remedy === undefined]).toEqual([
        f.check,
        f.state,
        ['ok', 'skipped'].includes(f.state),
      ]);
  });

  it('does not touch power devices where that is not wanted', async () => {
    const { stdout } = await call(['--no-power']);
    expect(sut.received.some((r) => r.url.endsWith('/power'))).toBe(false);
    expect(stdout).toMatch(/^unknown bmc\.answer +a-1\/bmc: it was not asked now/m);
  });

  it('calls nothing well while no server answers', async () => {
    const { io, outcome } = fakeIo(['doctor', '--dir', '/nowhere', '-u', '127.0.0.1:1']);
    const program = createProgram(io);
    await program.parseAsync(io.args, { from: 'user' });
    expect(program.exitCode).toBe(1);
    expect(outcome.stdout).not.toMatch(/^ok /m);
    expect(outcome.stdout).toMatch(/^unknown nats\.version +nats: no Muster at 127\.0\.0\.1:1/m);
  });

  it('names only commands that the program itself takes', async () => {
    const { stdout } = await call(['--json']);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const known = createProgram(fakeIo([]).io);
    const named = findings.flatMap((f) => (f.remedy?.startsWith('muster ') === true ? [f.remedy] : []));
    expect(named.length).toBeGreaterThan(3);
    for (const line of named) {
      let at = known as ReturnType<typeof createProgram> | undefined;
      for (const w of line.split(' ').slice(1)) {
        const inner = at?.commands.find((c) => c.name() === w);
        if (inner === undefined) break;
        at = inner as ReturnType<typeof createProgram>;
      }
      expect([line, at?.commands.length]).toEqual([line, 0]);
    }
  });
});
