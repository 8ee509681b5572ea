import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { machineOf, type AgentAdmission } from '#contracts';
import { loadConfig, loadCredentials, loadKeys } from '../config/agent-config.js';
import { enroll, TOKEN_VARIABLE } from './enroll.js';

const machineId = '3d1219c7c4c5404aaa1f6d2a48adfda4';
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5';

let root: string;
let server: Server;
let url: string;
/** What hosts have asked, in order. */
const asked: { token?: string | undefined; path?: string | undefined; body: Record<string, unknown> }[] = [];
let answer: (body: Record<string, unknown>) => { status: number; body: unknown };

const admission = (o: Partial<AgentAdmission> = {}): AgentAdmission => ({
  node: 'bare-SN1',
  cluster: 'spec',
  agentPort: 7946,
  credentials: { user: 'agent=bare-SN1', seed: 'SUSEED', jwt: 'a.b.c' },
  datagramKeys: ['11'.repeat(32)],
  networks: { management: { address: '127.0.0.1' } },
  nats: { management: ['nats://10.0.0.1:4222'], backend: ['nats://10.1.0.1:4222'] },
  ...o,
});

async function bodyOf(req: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const piece of req) text += String(piece);
  return JSON.parse(text) as Record<string, unknown>;
}

beforeAll(async () => {
  server = createServer((req, res) => {
    void bodyOf(req).then((body) => {
      asked.push({ token: req.headers.authorization, path: req.url, body });
      const said = answer(body);
      res.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'muster-enrol-'));
  process.env['MUSTER_ROOT'] = root;
  put('etc/hostname', 'bare\n');
  put('etc/machine-id', `${machineId}\n`);
  put('sys/class/dmi/id/product_serial', 'SN1\n');
  put('etc/ssh/ssh_host_ed25519_key.pub', `${key} root@bare\n`);
  put('token', 'mse_secret\n');
  asked.length = 0;
  answer = () => ({ status: 201, body: admission() });
});
afterEach(() => {
  delete process.env['MUSTER_ROOT'];
  delete process.env[TOKEN_VARIABLE];
  rmSync(root, { recursive: true });
});

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const keep = (to: 'out' | 'err') => (text: unknown) => {
    said[to] += String(text);
    return true;
  };
  const out = vi.spyOn(process.stdout, 'write').mockImplementation(keep('out'));
  const err = vi.spyOn(process.stderr, 'write').mockImplementation(keep('err'));
  try {
    const code = await enroll(args);
    return { code, ...said };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}
const enrol = (...more: string[]): Promise<{ code: number; out: string; err: string }> =>
  run('--server', url, '--token-file', join(root, 'token'), '--network', 'management=127.0.0.1', ...more);
const file = (name: string): string => join(root, 'etc/muster', name);

describe('a host that enrols itself', () => {
  it('says who it is, and is given what its agent is started with, for nobody else to read', async () => {
    const { code, out, err } = await enrol();
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^enrolled as bare-SN1 in cluster spec, at management 127.0.0.1\nnext: systemctl enable --now /,
    );
    expect(asked).toEqual([
      {
        token: 'Bearer mse_secret',
        path: '/v1/agents/enrol',
        body: {
          label: 'bare',
          serial: 'SN1',
          machine: machineOf(machineId),
          productSerial: 'SN1',
          hostKeys: [key],
          networks: { management: { address: '127.0.0.1' } },
        },
      },
    ]);
    expect(loadConfig(file('agent.json'))).toMatchObject({
      node: 'bare-SN1',
      cluster: 'spec',
      networks: { management: { bind: '127.0.0.1' } },
      port: 7946,
      nats: { management: ['nats://10.0.0.1:4222'] },
      credentials: file('nats.json'),
      keys: file('datagram.key'),
    });
    expect(loadCredentials(file('nats.json'))).toEqual(admission().credentials);
    expect(loadKeys(file('datagram.key'))).toHaveLength(1);
    for (const name of ['agent.json', 'nats.json', 'datagram.key'])
      expect([name, statSync(file(name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(out + err).not.toMatch(/SUSEED|mse_secret|1111/);
  });

  it('is known by its machine id where the maker left no serial number', async () => {
    put('sys/class/dmi/id/product_serial', 'To be filled by O.E.M.\n');
    answer = ({ serial }) => ({ status: 201, body: admission({ node: `bare-${String(serial)}` }) });
    expect(await enrol()).toMatchObject({ code: 0 });
    expect(asked[0]?.body['serial']).toBe(machineId);
    expect(asked[0]?.body).not.toHaveProperty('productSerial');
  });

  it('does not take for its own what every machine of an image has for a machine id', async () => {
    put('etc/machine-id', 'uninitialized\n');
    expect(await enrol()).toMatchObject({ code: 0 });
    expect(asked[0]?.body).not.toHaveProperty('machine');
  });

  it('is the same node again, with what the operator has set beside it', async () => {
    await enrol();
    const before = JSON.parse(readFileSync(file('agent.json'), 'utf8')) as object;
    writeFileSync(file('agent.json'), JSON.stringify({ ...before, lister: ['/usr/bin/list'] }));
    answer = () => ({
      status: 201,
      body: admission({ credentials: { user: 'agent=bare-SN1', seed: 'SUNEW', jwt: 'd.e.f' } }),
    });
    expect(await enrol()).toMatchObject({ code: 0 });
    expect(loadConfig(file('agent.json')).lister).toEqual(['/usr/bin/list']);
    expect(loadCredentials(file('nats.json')).seed).toBe('SUNEW');
  });

  it("does not take another node's or cluster's place, unless it is forced", async () => {
    await enrol();
    put('etc/hostname', 'other\n');
    answer = () => ({ status: 201, body: admission({ node: 'other-SN1' }) });
    expect(await enrol()).toMatchObject({
      code: 1,
      err: expect.stringContaining('the agent of bare-SN1: say --force'),
    });
    expect(asked).toHaveLength(1);
    put('etc/hostname', 'bare\n');
    answer = () => ({ status: 201, body: admission({ cluster: 'test' }) });
    expect(await enrol()).toMatchObject({ code: 1, err: expect.stringContaining('of another cluster (spec)') });
    expect(loadConfig(file('agent.json')).cluster).toBe('spec');
    expect(await enrol('--force')).toMatchObject({ code: 0 });
    expect(loadConfig(file('agent.json')).cluster).toBe('test');
  });

  it('says in the words of the server why it is refused, and writes nothing', async () => {
    const detail = 'the host answers as bare-SN1, which is heard, and runs on another machine';
    answer = () => ({ status: 409, body: { code: 'ALREADY_EXISTS', status: 409, detail } });
    expect(await enrol()).toEqual({ code: 1, out: '', err: `muster-agent: ${detail}\n` });
    answer = () => ({ status: 404, body: 'no such page' });
    expect((await enrol()).err).toContain('HTTP status 404');
    expect(existsSync(file('agent.json'))).toBe(false);
  });

  it('believes no answer that its agent could not start with', async () => {
    const { credentials: _none, ...bare } = admission();
    const wrong: Partial<AgentAdmission>[] = [
      { datagramKeys: ['x'] },
      { nats: {} },
      { networks: { management: { address: '203.0.113.9' } } },
      { credentials: { user: 'u', seed: '', jwt: '' } },
    ];
    for (const o of wrong) {
      answer = () => ({ status: 201, body: admission(o) });
      expect([o, (await enrol()).code]).toEqual([o, 1]);
    }
    answer = () => ({ status: 201, body: bare });
    expect((await enrol()).code).toBe(1);
    expect(existsSync(file('agent.json'))).toBe(false);
  });

  it('takes its token from a file or the environment, never from the command line', async () => {
    process.env[TOKEN_VARIABLE] = 'mse_env';
    expect(await run('--server', url, '--network', 'management=127.0.0.1')).toMatchObject({ code: 0 });
    expect(asked[0]?.token).toBe('Bearer mse_env');
    for (const args of [['--token', 'mse_x'], ['mse_x'], ['--token-file', join(root, 'none')]])
      expect([args, (await run('--server', url, ...args)).code]).toEqual([args, 2]);
    delete process.env[TOKEN_VARIABLE];
    expect((await run('--server', url)).err).toContain('--token-file or MUSTER_AGENT_TOKEN is needed');
  });

  it('shows its token to nobody on the way, unless that is said', async () => {
    const plain = ['--server', 'http://203.0.113.9:9007', '--token-file', join(root, 'token')];
    expect(await run(...plain)).toMatchObject({
      code: 2,
      err: expect.stringContaining('use https, or say --insecure'),
    });
    expect(await run('--server', 'ftp://x')).toMatchObject({ code: 2 });
    // One that speaks no TLS gets nothing of it.
    const tls = ['--server', url.replace('http', 'https'), '--token-file', join(root, 'token')];
    expect(await run(...tls, '--network', 'management=127.0.0.1')).toMatchObject({ code: 1 });
    expect(asked).toHaveLength(0);
  });

  it('needs a network by which others find it', async () => {
    const { code, err } = await run('--server', url, '--token-file', join(root, 'token'));
    expect([code, err]).toEqual([1, expect.stringContaining('say --network management=INTERFACE')]);
    expect((await enrol('--network', 'backend=203.0.113.0/24')).err).toContain('this host has no address there');
    expect((await enrol('--network', 'backend')).code).toBe(2);
    expect((await enrol('--network', 'management=lo')).code).toBe(2);
  });
});
