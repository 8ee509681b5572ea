import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { issueServerCertificate, newAuthority } from '#bus/init/certificates.js';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { freePort } from '#bus/testing/free-port.js';
import { RunningInventory, seen } from '../../inventory/src/testing/running-inventory.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

const HANDLER = fileURLToPath(new URL('../../../deploy/serf/muster-serf-handler', import.meta.url));
const TOKEN = 'of-the-serf-agent';

interface Run {
  code: number | undefined;
  stderr: string;
}

/** The handler, as a Serf agent calls it. */
const handle = (event: string | undefined, members: string, ...args: string[]): Promise<Run> =>
  handleWith({}, event, members, ...args);

async function handleWith(
  more: Record<string, string>,
  event: string | undefined,
  members: string,
  ...args: string[]
): Promise<Run> {
  const { PATH } = process.env;
  const env = { PATH, ...more, ...(event !== undefined && { SERF_EVENT: event }) };
  const { exitCode, stderr } = await execa(HANDLER, args, {
    env,
    extendEnv: false,
    input: members,
    stdout: 'ignore',
    stripFinalNewline: false,
    reject: false,
  });
  return { code: exitCode, stderr };
}

describe('the bridge from Serf, with real agents, gateway and inventory', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-serf-'));
  const tokenFile = join(dir, 'token');
  const agents: Daemon[] = [];
  let inventory: RunningInventory;
  let gateway: GatewayBeside;
  let url = '';

  beforeAll(async () => {
    inventory = await RunningInventory.start();
    const sha256 = createHash('sha256').update(TOKEN).digest('hex');
    writeFileSync(join(dir, 'tokens.json'), JSON.stringify([{ name: 'serf', role: 'operator', sha256 }]));
    writeFileSync(tokenFile, `${TOKEN}\n`);
    gateway = await startGatewayBeside(inventory.as('gateway'), { tokens: join(dir, 'tokens.json') });
    url = new URL(gateway.url).host;
  });
  afterAll(async () => {
    for (const agent of agents) agent.kill('SIGKILL');
    await gateway?.close();
    await inventory?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Resolves once it runs; the profile `local` is Serf's quickest. */
  async function serf(name: string, ...args: string[]): Promise<{ agent: Daemon; address: string }> {
    const address = `127.0.0.1:${await freePort()}`;
    const fixed = ['-node', name, '-bind', address, '-rpc-addr', `127.0.0.1:${await freePort()}`, '-profile', 'local'];
    const agent = daemon('serf', ['agent', ...fixed, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    agents.push(agent);
    let said = '';
    await new Promise<void>((resolve, reject) => {
      agent.on('error', reject);
      agent.on('exit', () => reject(new Error(`serf ended: ${said}`)));
      for (const stream of [agent.stdout, agent.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          if (said.includes('Serf agent running!')) resolve();
        });
    });
    return { agent, address };
  }

  it('makes a member that joins Discovered, and one that is killed Disappeared', async () => {
    const events = 'member-join,member-update,member-failed,member-leave,member-reap';
    const told = `${events}=${HANDLER} -u ${url} -t ${tokenFile}`;
    const watcher = await serf('control', '-tag', 'NodeSerial=C', '-event-handler', told);
    const tags = ['-tag', 'NodeLabel=rack1', '-tag', 'NodeSerial=SN1', '-tag', 'NodeAddr=10.9.0.1'];
    const { agent } = await serf('member', ...tags, '-join', watcher.address);
    const found = await seen(inventory.nodes, 'rack1-SN1', (n) => n.state === 'Discovered');
    expect(found).toMatchObject({ label: 'rack1', serial: 'SN1', networks: { management: { address: '10.9.0.1' } } });
    // Its own name and address stand in for the tags that it does not have.
    const own = await seen(inventory.nodes, 'control-C', (n) => n.state === 'Discovered');
    expect(own.networks).toEqual({ management: { address: '127.0.0.1' } });
    agent.kill('SIGKILL');
    await seen(inventory.nodes, 'rack1-SN1', (n) => n.state === 'Disappeared');
    expect(inventory.nodes.get('control-C')?.value.state).toBe('Discovered');
  });

  it('tells of every member of an event that can be named, and names the others', async () => {
    const members = [
      ['m1', '10.9.1.1', 'db', 'role=db,NodeSerial=A'],
      ['m2', '10.9.1.2', '', 'NodeLabel=m2'],
      ['m3', '10.9.1.3', '', 'NodeSerial=a"],"x":["'],
      ['m 4', 'fe80::4', '', 'NodeSerial=D,NodeLabel=m4'],
    ];
    const done = await handle(
      'member-join',
      members.map((m) => `${m.join('\t')}\n`).join(''),
      '-u',
      url,
      '-t',
      tokenFile,
    );
    expect(done).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^muster-serf-handler: member-join: .*m2, m3: .*\n$/),
    });
    for (const name of ['m1-A', 'm4-D']) await seen(inventory.nodes, name, (n) => n.state === 'Discovered');
    expect(inventory.nodes.get('m4-D')?.value.networks).toEqual({ management: { address: 'fe80::4' } });
    expect(inventory.nodes.entries().filter(({ key }) => /^m[23]/.test(key))).toEqual([]);
  });

  it('says in one line what the gateway said, and does not repeat what is refused', async () => {
    const done = await handle('member-join', 'm5\t10.9.1.5\t\tNodeSerial=E\n', '-u', url);
    expect(done).toEqual({ code: 1, stderr: expect.stringMatching(/^muster-serf-handler: .*401.*\n$/) });
  });
});

describe('the handler of Serf’s events', () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());

  it('tries again while the gateway does not take it, and then tells all in one request', async () => {
    const heard: { path: string | undefined; body: unknown }[] = [];
    server = createServer((req, res) => {
      let text = '';
      req.setEncoding('utf8').on('data', (part: string) => (text += part));
      req.on('end', () => {
        heard.push({ path: req.url, body: JSON.parse(text) });
        res.writeHead(heard.length === 1 ? 500 : 200).end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const members = 'a\t10.0.0.1\t\tNodeSerial=1\nb\t10.0.0.2\t\tNodeSerial=2\n';
    expect(await handle('member-failed', members, '-u', `http://127.0.0.1:${port}`)).toEqual({ code: 0, stderr: '' });
    const nodes = [
      { label: 'a', serial: '1', addr: '10.0.0.1' },
      { label: 'b', serial: '2', addr: '10.0.0.2' },
    ];
    const body = { monitor_event: { name: 'disappeared', nodes } };
    expect(heard).toEqual([
      { path: '/monitor/event', body },
      { path: '/monitor/event', body },
    ]);
  });

  it('gives up where nobody listens, in one line', async () => {
    const done = await handle('member-leave', 'a\t10.0.0.1\t\tNodeSerial=1\n', '-u', `127.0.0.1:${await freePort()}`);
    expect(done).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^muster-serf-handler: member-leave: .*connect.*\n$/i),
    });
  });

  it('shows its token to no other machine without TLS, unless that is said', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-serf-token-'));
    const token = ['-t', join(dir, 'token')];
    writeFileSync(join(dir, 'token'), `${TOKEN}\n`);
    // Nobody is reached there: what curl says is that it has tried.
    const port = await freePort();
    const told = (args: string[], env: Record<string, string> = {}): Promise<Run> =>
      handleWith(env, 'member-leave', 'a\t10.0.0.1\t\tNodeSerial=1\n', ...args);
    const refused = {
      code: 2,
      stderr: expect.stringMatching(/^muster-serf-handler: member-leave: INSECURE_HTTP: .*--insecure-http.*\n$/),
    };
    const tried = {
      code: 1,
      stderr: expect.stringMatching(/^muster-serf-handler: member-leave: \S+ did not take it.*\n$/),
    };
    try {
      for (const url of [
        'control1:9007',
        'http://192.0.2.7',
        '127.0.0.1.example:9007',
        'http://localhost.example',
        '[2001:db8::1]:9007',
      ])
        expect([url, await told(['-u', url, ...token])]).toEqual([url, refused]);
      for (const url of [`127.0.0.1@192.0.2.7:${port}`, `http://127.0.0.1%2e.example:${port}`])
        expect([url, await told(['-u', url, ...token])]).toEqual([
          url,
          { code: 2, stderr: expect.stringContaining('no user and no password') },
        ]);
      // Another name of this machine that is none of loopback: this test alone knows it.
      const other = `0.0.0.0:${port}`;
      expect(await told(['-u', other, ...token], { MUSTER_INSECURE_HTTP: 'false' })).toEqual(refused);
      expect(await told(['-u', other, ...token], { MUSTER_INSECURE_HTTP: 'yes' })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('true or false is expected'),
      });
      const allowed = [
        told(['-u', other]),
        told(['-u', other, '--insecure-http', ...token]),
        told(['-u', other, ...token], { MUSTER_INSECURE_HTTP: 'true' }),
        told(['-u', `https://${other}`, ...token]),
        told([`-ulocalhost:${port}`, ...token]),
        told(['-u', `[::1]:${port}`, ...token]),
        told(['-u', `unix:${dir}/none`, ...token]),
      ];
      expect(await Promise.all(allowed)).toEqual(allowed.map(() => tried));
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('tells a gateway that it knows by the CA which is named', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-serf-tls-'));
    try {
      const authority = await newAuthority('spec', Date.now());
      const { certificate, key } = await issueServerCertificate(authority, ['127.0.0.1'], Date.now());
      writeFileSync(join(dir, 'ca.pem'), authority.certificate);
      writeFileSync(join(dir, 'token'), TOKEN);
      const tokens: unknown[] = [];
      server = createTlsServer({ cert: certificate, key }, (req, res) => {
        tokens.push(req.headers.authorization);
        req.resume().on('end', () => res.writeHead(200).end());
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const to = ['-u', `https://127.0.0.1:${port}`, '-t', join(dir, 'token')];
      const member = 'a\t10.0.0.1\t\tNodeSerial=1\n';
      expect(await handle('member-join', member, ...to)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/certificate/i),
      });
      expect(tokens).toEqual([]);
      expect(await handle('member-join', member, ...to, '--ca', join(dir, 'ca.pem'))).toEqual({ code: 0, stderr: '' });
      expect(await handleWith({ MUSTER_CA: join(dir, 'ca.pem') }, 'member-join', member, ...to)).toEqual({
        code: 0,
        stderr: '',
      });
      expect(tokens).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('is no program to be run by hand, nor for what is no member’s', async () => {
    for (const event of [undefined, 'user', 'query']) expect((await handle(event, '')).code).toBe(2);
  });
});
