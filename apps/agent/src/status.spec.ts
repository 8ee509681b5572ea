import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import type { AgentStatus } from './control/agent-status.js';
import { AgentFleet } from './testing/fleet.js';

const program = fileURLToPath(new URL('../../../dist/apps/agent/src/main.js', import.meta.url));

const muster = async (...args: string[]): Promise<{ code: number | undefined; out: string; err: string }> => {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [program, ...args], {
    env: { NODE_OPTIONS: '' },
    stripFinalNewline: false,
    reject: false,
  });
  return { code: exitCode, out: stdout, err: stderr };
};

describe('muster-agent', () => {
  let fleet: AgentFleet | undefined;
  afterEach(async () => {
    await fleet?.stop();
    fleet = undefined;
  });

  it('status shows what the agent of this host knows, as a text or as JSON', async () => {
    fleet = await AgentFleet.create({ names: ['a', 'b'] });
    await fleet.start('a');
    const socket = fleet.socketOf('a');
    const text = await muster('status', '--socket', socket);
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toMatch(/^a: epoch 1, boot boot-a/);
    const json = await muster('status', '--json', '--socket', socket);
    const status = JSON.parse(json.out) as AgentStatus;
    expect(status).toMatchObject({ node: 'a', listVersion: 1, nats: [], rejoin: { switches: { loop: true } } });
  });

  it('says in one line what is wrong', async () => {
    const nobody = await muster('status', '--socket', '/nonexistent/agent.sock');
    expect(nobody).toMatchObject({ code: 1, out: '' });
    expect(nobody.err).toBe('muster-agent: no agent answers at /nonexistent/agent.sock (ENOENT)\n');
    expect((await muster('status', '--bogus')).code).toBe(2);
    const unknown = await muster('constructor');
    expect(unknown.code).toBe(2);
    expect(unknown.err).toMatch(/^muster-agent: no command constructor\n\nusage: muster-agent \[run\|status/);
    expect(await muster('--config', '/nonexistent.json')).toMatchObject({ code: 1, out: '' });
  });

  it.each([['--help'], ['status', '-h']])('says how it is used: %s %s', async (...args) => {
    const help = await muster(...args.filter(Boolean));
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toMatch(/^usage: muster-agent \[run\|status\|enroll\]/);
  });
});
