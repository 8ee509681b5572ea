import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialsFile, readCredentials, systemClock } from '#bus';
import { freePort } from '#bus/testing/free-port.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { defaultHostGroups, type NodeResult } from '#contracts';
import { AnsibleConfig } from '#service';
import { agentArchive, type AgentArchive } from '../agent-archive/agent-archive.js';
import type { Step } from '../ansible/ansible-events.js';
import { runAnsible } from '../ansible/ansible-run.js';
import { stepFiles } from '../jobs/job-plan.js';
import { program } from '../testing/playbooks.js';
import { job } from '../testing/records.js';
import { startTask, type AgentTask } from './agent-task.js';
import { readHostFacts, type HostFacts } from './host-facts.js';
import type { PreparedInstall } from './prepare-install.js';

/** discover.yml and install.yml for real, on a host that lives in a folder; its agent reaches a real NATS. */
const systemctl = fileURLToPath(new URL('../testing/systemctl.py', import.meta.url));
const NAME = 'bare-SN1';

let nats: TestNats;
let root: string;
let archive: AgentArchive;
let log = '';

beforeAll(async () => {
  [nats, root] = await Promise.all([
    startTestNats({ users: true, agents: [NAME] }),
    mkdtemp(join(tmpdir(), 'muster-bare-')),
  ]);
  await program(`${root}/usr/local/bin/systemctl`, await readFile(systemctl, 'utf8'));
  await mkdir(`${root}/etc/systemd/system`, { recursive: true });
  await writeFile(`${root}/etc/hostname`, 'bare\n');
  await writeFile(`${root}/etc/machine-id`, '3d1219c7c4c5404aaa1f6d2a48adfda4\n');
  await program(`${root}/sys/class/dmi/id/product_serial`, 'SN1\n');
  await mkdir(`${root}/etc/ssh`);
  await writeFile(`${root}/etc/ssh/ssh_host_ed25519_key.pub`, 'ssh-ed25519 AAAAC3Nz root@bare\n');
  archive = await agentArchive(`${root}/archives`, await runtime('node', `exec ${process.execPath} "$@"`));
});

afterAll(async () => {
  const pid = await agentPid();
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  await nats?.stop();
  await rm(root, { recursive: true, force: true });
});

/** In the place of a Node, which would take seconds to pack. */
async function runtime(name: string, line: string): Promise<string> {
  const file = join(root, name);
  await writeFile(file, `#!/bin/sh\n${line}\n`);
  await chmod(file, 0o755);
  return file;
}

const agentPid = async (): Promise<number | undefined> =>
  readFile(`${root}/run/units/muster-agent.service`, 'utf8').then(Number, () => undefined);

async function run(step: Step, install?: PreparedInstall): Promise<{ result: NodeResult; facts: unknown }> {
  const ansible = new AnsibleConfig();
  ansible.extraVars = { ansible_connection: 'local', muster_root: root };
  const files = stepFiles(
    {
      job: job('j1', { kind: 'discover', nodes: [], addresses: ['127.0.0.1'] }),
      nodes: [],
      settings: { hostGroups: defaultHostGroups, globals: {}, ansible: {} },
      ansible,
      learned: new Map(),
      inFile: () => false,
    },
    { step, nodes: ['127.0.0.1'], run: 'r1', ...(install && { install }) },
  );
  log = '';
  const { results, facts } = await runAnsible({
    clock: systemClock,
    step,
    config: ansible,
    nodes: ['address-0'],
    inventory: files.inventory,
    extraVars: files.extraVars,
    hostKeys: files.hostKeys,
    leaseUntil: () => process.hrtime.bigint() + 120_000_000_000n,
    limitMs: 120_000,
    onLine: (line) => (log += `${line}\n`),
    onEvents: () => undefined,
    signal: new AbortController().signal,
  });
  const result = results['address-0'];
  if (result === undefined) throw new Error(log);
  return { result, facts: facts.get('address-0') };
}

async function discovered(): Promise<HostFacts> {
  const { result, facts } = await run('discover');
  expect([result, log]).toMatchObject([{ ok: true, changed: 0 }, expect.anything()]);
  const read = readHostFacts(facts);
  if (read === undefined) throw new Error(JSON.stringify(facts));
  return read;
}

let port = 0;
async function task(o: Partial<AgentTask> = {}): Promise<AgentTask> {
  port ||= await freePort();
  const { user, seed, jwt } = readCredentials(credentialsFile(nats.dir, `agent=${NAME}`));
  return {
    node: NAME,
    send: true,
    version: archive.version,
    config: {
      node: NAME,
      cluster: 'spec',
      networks: { management: { bind: '127.0.0.1' } },
      port,
      nats: { management: [nats.url] },
    },
    credentials: { user, seed, jwt: jwt ?? '' },
    datagramKeys: [readFileSync(join(nats.dir, 'keys/datagram.key'), 'utf8').trim()],
    ...o,
  };
}

const install = async (given: AgentTask, from = archive): Promise<NodeResult> =>
  (await run('install', { archive: from, tasks: new Map([['127.0.0.1', given]]), refused: {} })).result;

describe('discover and install', () => {
  it('see who a bare host is, and change nothing on it', async () => {
    const facts = await discovered();
    expect(facts).toMatchObject({
      hostname: 'bare',
      productSerial: 'SN1',
      machineId: '3d1219c7c4c5404aaa1f6d2a48adfda4',
      agent: null,
    });
    expect(facts.hostname).not.toBe(hostname());
    expect(facts.addresses).toContainEqual({ interface: 'lo', address: '127.0.0.1' });
    expect(facts.hostKeys.every((key) => /^[a-z0-9-]+ [A-Za-z0-9+/=]+$/.test(key))).toBe(true);
    expect(facts.hostKeys.length).toBeGreaterThan(0);
  });

  it('put the agent on it, which reaches NATS, and show no secret', async () => {
    const given = await task();
    expect([await install(given), log]).toMatchObject([{ ok: true, step: 'install' }, expect.anything()]);
    const secrets = [given.credentials?.seed ?? '-', given.credentials?.jwt ?? '-', given.datagramKeys?.[0] ?? '-'];
    for (const secret of secrets) expect(log).not.toContain(secret);
    for (const file of ['agent.json', 'nats.json', 'datagram.key'])
      expect([file, ((await stat(`${root}/etc/muster/${file}`)).mode & 0o777).toString(8)]).toEqual([file, '600']);
    expect((await readdir(`${root}/opt/muster-agent`)).sort()).toEqual([archive.version, 'current'].sort());
    expect((await discovered()).agent).toEqual({
      active: true,
      node: NAME,
      cluster: 'spec',
      version: archive.version,
      byHand: false,
    });
  });

  it('leave the agent that runs where another version does not run on the host, and say so', async () => {
    const broken = await agentArchive(
      `${root}/archives`,
      await runtime('broken', 'echo no such library >&2; exit 127'),
    );
    const before = await agentPid();
    expect(await install(await task({ version: broken.version }), broken)).toMatchObject({
      ok: false,
      failedTask: 'Start the agent',
      message: expect.stringMatching(/^the agent's Node does not run on this host \(\w+\): no such library$/),
    });
    expect(await agentPid()).toBe(before);
    expect(await readlink(`${root}/opt/muster-agent/current`)).toBe(archive.version);
  });

  it('only start an agent anew that was put there by hand: nothing is sent, nothing is written', async () => {
    const unit = `${root}/etc/systemd/system/muster-agent.service`;
    const home = `${root}/opt/muster-agent/${archive.version}`;
    await writeFile(unit, `[Service]\nExecStart=${home}/node ${home}/dist/apps/agent/src/main.js\n`);
    const pid = await agentPid();
    expect((await discovered()).agent).toEqual({
      active: true,
      node: NAME,
      cluster: 'spec',
      version: null,
      byHand: true,
    });
    const before = await readFile(`${root}/etc/muster/agent.json`, 'utf8');
    expect(await install(startTask(NAME))).toMatchObject({ ok: true });
    expect(log).toMatch(/Copy the agent[^]*skipping/);
    expect(await agentPid()).not.toBe(pid);
    expect(await readFile(`${root}/etc/muster/agent.json`, 'utf8')).toBe(before);
    expect(await install(startTask('other-1'))).toMatchObject({
      ok: false,
      message: `the agent runs as ${NAME}, not as other-1: see /etc/muster/agent.json on the host`,
    });
  });
});
