import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import { execaSync } from 'execa';
import { daemon } from '#bus/testing/daemon.js';
import { freePort } from '#bus/testing/free-port.js';
import { defaultHostGroups, type NodeResult, type RecoverTask } from '#contracts';
import { AnsibleConfig } from '#service';
import { stepFiles } from '../jobs/job-plan.js';
import { readServices } from '../services/service-folder.js';
import { program } from '../testing/playbooks.js';
import { job, node } from '../testing/records.js';
import { parseEvent, type Step } from './ansible-events.js';
import { runAnsible } from './ansible-run.js';

/**
 * The playbooks that come with Muster, and the lab's services, run for real on a host that lives in a folder: its own
 * prefix and systemctl.
 */
const own = fileURLToPath(new URL('../../../../playbooks', import.meta.url));
const labServices = fileURLToPath(new URL('../../../../lab/services', import.meta.url));
const systemctl = fileURLToPath(new URL('../testing/systemctl.py', import.meta.url));

let root: string;
let ports: { mirror: number; registry: number };
let log = '';
/** Tasks that were shown while they ran. */
let shown: string[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-host-'));
  ports = { mirror: await freePort(), registry: await freePort() };
  await program(`${root}/usr/local/bin/systemctl`, await readFile(systemctl, 'utf8'));
  await program(`${root}/usr/local/bin/muster-workload`, `#!/bin/sh\necho "$@" >> ${root}/orders\n`);
  await mkdir(`${root}/sys/class/dmi/id`, { recursive: true });
  await writeFile(`${root}/sys/class/dmi/id/product_uuid`, '11112222-3333-4444-5555-666677778888\n');
  await writeFile(`${root}/sys/class/dmi/id/board_serial`, 'BRD-7\n');
  await mkdir(`${root}/etc/systemd/system`, { recursive: true });
  await writeFile(`${root}/etc/systemd/system/muster-agent.service`, '[Service]\nExecStart=/usr/bin/sleep 3600\n');
});
afterAll(async () => {
  for (const pid of pids().values()) {
    const isRunning = await stat(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (isRunning) process.kill(pid, 'SIGKILL');
  }
  await rm(root, { recursive: true, force: true });
});

/** Unit → pid of its process. */
function pids(): Map<string, number> {
  const { stdout } = execaSync('sh', ['-c', `cd ${root}/run/units && grep -H . *`]);
  const found = stdout.split('\n').map((l) => l.split(':') as [string, string]);
  return new Map(found.map(([unit, pid]) => [unit, Number(pid)]));
}

async function run(
  step: Step,
  o: {
    playbooks?: string;
    services?: string;
    vars?: Record<string, unknown>;
    hostGroup?: string;
    only?: string[];
    recover?: RecoverTask[];
  } = {},
): Promise<NodeResult> {
  const ansible = new AnsibleConfig();
  ansible.playbooks = o.playbooks ?? own;
  ansible.services = o.services ?? labServices;
  ansible.extraVars = {
    ansible_connection: 'local',
    muster_mirror_port: ports.mirror,
    muster_registry_port: ports.registry,
  };
  const host = node('n1', {
    hostGroup: o.hostGroup ?? 'service-master',
    networks: { management: { address: '127.0.0.1' } },
    vars: { muster_root: root, ...o.vars },
  });
  const files = stepFiles(
    {
      job: job('j1', { nodes: ['n1'], ...(o.only && { kind: 'resetup' as const, services: o.only }) }),
      nodes: [host],
      settings: { hostGroups: defaultHostGroups, globals: {}, ansible: {} },
      ansible,
      services: step === 'recover' ? [] : ((await readServices(ansible)) ?? []),
    },
    {
      step,
      nodes: ['n1'],
      run: 'r1',
      ...(o.recover === undefined ? {} : { recover: o.recover }),
    },
  );
  log = '';
  shown = [];
  const { results } = await runAnsible({
    clock: systemClock,
    step,
    config: ansible,
    nodes: ['n1'],
    inventory: files.inventory,
    extraVars: files.extraVars,
    hostKeys: files.hostKeys,
    ...(files.services && { services: files.services }),
    leaseUntil: () => process.hrtime.bigint() + 120_000_000_000n,
    limitMs: 120_000,
    onLine: (line) => (log += `${line}\n`),
    onEvents: (lines) => shown.push(...lines.flatMap(taskOf)),
    signal: new AbortController().signal,
  });
  const result = results['n1'];
  if (result === undefined) throw new Error(log);
  return result;
}

function taskOf(line: string): string[] {
  const task = parseEvent(line)?.['task'];
  return typeof task === 'string' ? [task] : [];
}

/** Everything about every file of the host, except what is made anew while it is looked at. */
async function fingerprint(): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const s = await stat(path);
    const hash = entry.isFile()
      ? createHash('sha256')
          .update(await readFile(path))
          .digest('hex')
      : '';
    all[path] = `${s.mode} ${s.mtimeMs} ${hash}`;
  }
  return all;
}

/** A comment at the end of every playbook, task file and service.yml. */
async function commented(from: string, what: string): Promise<string> {
  const copy = join(root, '..', `${root.split('/').at(-1)}-${what}`);
  await cp(from, copy, { recursive: true });
  for (const name of await readdir(copy, { recursive: true }))
    if (name.endsWith('.yml')) await writeFile(join(copy, name), '\n# another comment\n', { flag: 'a' });
  return copy;
}

const found = (r: NodeResult): Record<string, string> =>
  Object.fromEntries(
    (r.check?.findings ?? []).map((f) => [f.service, f.why === '' ? f.result : `${f.result}: ${f.why}`]),
  );

describe('the playbooks that come with Muster', () => {
  let provisioned: string | undefined;

  it('site sets a master up, and says what its effective configuration is', async () => {
    const site = await run('site');
    expect(site).toMatchObject({ ok: true, step: 'site' });
    provisioned = site.checksum;
    expect(provisioned).toMatch(/^[0-9a-f]{64}$/);
    const answer = await (await fetch(`http://127.0.0.1:${ports.mirror}/status`)).json();
    expect(answer).toMatchObject({ service: 'mirror', mode: 'master', node: 'n1' });
  });

  it('check finds nothing, changes nothing, and is not misled by comments in the playbooks', async () => {
    const [playbooks, services] = [await commented(own, 'playbooks'), await commented(labServices, 'services')];
    try {
      const before = [await fingerprint(), pids()];
      const check = await run('check', { playbooks, services });
      expect(found(check)).toEqual({ agent: 'ok', mirror: 'ok', registry: 'ok' });
      expect(check).toMatchObject({ ok: true, changed: 0, check: { checksum: provisioned } });
      expect(check.hardware).toEqual({ systemUuid: '11112222-3333-4444-5555-666677778888', boardSerial: 'BRD-7' });
      expect([await fingerprint(), pids()]).toEqual(before);
    } finally {
      for (const copy of [playbooks, services]) await rm(copy, { recursive: true });
    }
  });

  it('check names a stopped unit, an edited file, and a process of the wrong mode, a check that fails; another variable is another checksum', async () => {
    const config = `${root}/etc/muster-mirror/mirror.json`;
    await writeFile(config, (await readFile(config, 'utf8')).replace('n1', 'n2'));
    process.kill(pids().get('muster-registry.service') ?? 0, 'SIGKILL');
    const other = JSON.stringify({ ...(JSON.parse(await readFile(config, 'utf8')) as object), port: await freePort() });
    await writeFile(`${root}/stray.json`, other);
    const services = await commented(labServices, 'with-odd');
    for (const task of ['site', 'cleanup', 'check'])
      await program(`${services}/odd/tasks/${task}.yml`, '- name: Ask it\n  fail: {msg: no such tool}\n');
    await writeFile(`${services}/odd/service.yml`, 'groups: {service-master: any}');
    const stray = daemon(`${root}/usr/local/bin/muster-mirror`, ['--mode', 'proxy', '--config', `${root}/stray.json`]);
    try {
      const check = await run('check', { services, vars: { muster_mirror_cache: 1024 } });
      expect(found(check)).toEqual({
        agent: 'ok',
        odd: 'unknown: task "Ask it": no such tool',
        mirror: expect.stringMatching(
          /^broken: mirror in mode proxy runs \(pid \d+\) and must not; .*mirror.json is not as it was installed/,
        ),
        registry: 'broken: muster-registry.service is inactive',
      });
      expect(check.check?.checksum).not.toBe(provisioned);
      // Of the file that differs, and of nothing else.
      const digests = check.check?.findings.map((f) => [f.service, f.digest !== undefined]);
      expect(Object.fromEntries(digests ?? [])).toEqual({ agent: false, odd: false, mirror: true, registry: false });
    } finally {
      stray.kill('SIGKILL');
      await rm(services, { recursive: true });
    }
  });

  it('a check as a worker finds the master’s services where they must not be', async () => {
    const check = await run('check', { hostGroup: 'service-worker' });
    expect(found(check)).toMatchObject({
      mirror: expect.stringMatching(/^broken: .*says mode "master" instead of "proxy"/),
    });
  });

  it('a re-setup of one service touches no file and no process of another', async () => {
    execaSync(`${root}/usr/local/bin/systemctl`, ['start', 'muster-registry.service'], { env: { MUSTER_ROOT: root } });
    const others = async (): Promise<unknown> => {
      const files = Object.entries(await fingerprint()).filter(([p]) => /registry|agent/.test(p));
      return [files, [...pids()].filter(([unit]) => unit !== 'muster-mirror.service')];
    };
    const [before, mirror] = [await others(), pids().get('muster-mirror.service')];
    for (const step of ['cleanup', 'site'] as const)
      expect(await run(step, { only: ['mirror'] })).toMatchObject({ ok: true, step });
    // By the service, not by the folder of the run.
    expect(shown).toContain('mirror : Set up the mirror');
    expect(await others()).toEqual(before);
    expect(pids().get('muster-mirror.service')).not.toBe(mirror);
    const check = await run('check');
    expect(found(check)).toEqual({ agent: 'ok', mirror: 'ok', registry: 'ok' });
    expect(check.check?.checksum).toBe(provisioned);
  });

  it('cleanup takes everything away but the agent', async () => {
    const agent = pids().get('muster-agent.service');
    expect(await run('cleanup')).toMatchObject({ ok: true });
    const left = Object.keys(await fingerprint()).filter((p) => /mirror|registry/.test(p) && !p.includes('/run/'));
    expect(left).toEqual([`${root}/srv/muster-mirror`]);
    await expect(fetch(`http://127.0.0.1:${ports.mirror}/status`)).rejects.toThrow(/fetch failed/);
    expect(agent).toBeDefined();
    expect(() => process.kill(agent ?? 0, 0)).not.toThrow();
  });

  it('recover writes the unit with its gate, has it started under its generation, and refuses an older one', async () => {
    const db: RecoverTask = {
      workload: 'db',
      generation: 7,
      driver: 'ansible',
      spec: { exec: ['/usr/bin/db', '--name', 'a b%c$d{{ e }}'], environment: { MODE: 'x y' } },
    };
    const bad = { ...db, workload: 'web', spec: { exec: '/usr/bin/web\nExecStartPost=/bin/evil' } };
    expect(await run('recover', { recover: [db, bad] })).toMatchObject({
      ok: false,
      workloads: {
        db: { started: true },
        web: { started: false, reason: 'spec.exec holds a control character' },
      },
    });
    const unit = await readFile(`${root}/etc/systemd/system/muster-workload-db.service`, 'utf8');
    // What a workload is started with may hold passwords.
    expect((await stat(`${root}/etc/systemd/system/muster-workload-db.service`)).mode & 0o777).toBe(0o600);
    expect(unit).toContain(`ExecStartPre=${root}/usr/local/bin/muster-gate db --generation 7\n`);
    expect(unit).toContain('ExecStart=/usr/bin/db --name "a b%%c$$d{{ e }}"\n');
    expect(unit).toContain('Environment="MODE=x y"\n');
    expect(await readFile(`${root}/orders`, 'utf8')).toBe(
      'start db --generation 7 --unit muster-workload-db.service\n',
    );
    expect((await run('recover', { recover: [{ ...db, generation: 6 }] })).workloads).toEqual({
      db: { started: false, reason: 'generation 6 is older than 7, which is installed here', seen: 7 },
    });
  });

  it('recover puts the gate beside a unit of the host, and has systemd read it before the start', async () => {
    const tool = `${root}/usr/local/bin/muster-workload`;
    const own = await readFile(tool, 'utf8');
    const reloads = `${root}/run/reloads`;
    await writeFile(reloads, '');
    await program(tool, `#!/bin/sh\ncp ${reloads} ${root}/read-by-then\n`);
    const spec = { unit: 'postgresql.service' };
    const pg: RecoverTask = { workload: 'pg', generation: 4, driver: 'ansible', spec };
    expect(await run('recover', { recover: [pg] })).toMatchObject({ ok: true, workloads: { pg: { started: true } } });
    const dropIn = await readFile(`${root}/etc/systemd/system/postgresql.service.d/50-muster-gate.conf`, 'utf8');
    expect(dropIn).toContain(`ExecStartPre=${root}/usr/local/bin/muster-gate pg --generation 4\n`);
    expect(await readFile(`${root}/read-by-then`, 'utf8')).toBe('reload\n');
    await program(tool, own);
  });

  it('recover stops a workload under its generation, and tells what the node refuses', async () => {
    const stop = (workload: string, generation: number, spec = {}): RecoverTask => ({
      workload,
      generation,
      driver: 'ansible',
      spec,
      stop: true,
    });
    const tool = `${root}/usr/local/bin/muster-workload`;
    await program(tool, `#!/bin/sh\necho "$@" > ${root}/last\n[ "$2" = db ] || { echo "STALE: older" >&2; exit 3; }\n`);
    expect(await run('recover', { recover: [stop('db', 8)] })).toMatchObject({
      ok: true,
      workloads: { db: { started: false, stopped: true } },
    });
    expect(await readFile(`${root}/last`, 'utf8')).toBe('stop db --generation 8\n');
    // The node has carried out an order about it: its own file names the unit, whatever the spec says by now.
    await mkdir(`${root}/var/lib/muster/workloads`, { recursive: true });
    await writeFile(`${root}/var/lib/muster/workloads/db.json`, '{}');
    await run('recover', { recover: [stop('db', 9, { unit: 'other.service' })] });
    expect(await readFile(`${root}/last`, 'utf8')).toBe('stop db --generation 9\n');
    expect(await run('recover', { recover: [stop('web', 3, { unit: 'web.service' })] })).toMatchObject({
      ok: false,
      workloads: { web: { started: false, reason: 'STALE: older' } },
    });
    expect(await readFile(`${root}/last`, 'utf8')).toBe('stop web --generation 3 --unit web.service\n');
    await writeFile(`${root}/var/lib/muster/workloads/web.json`, '{"name": "web", "generation": 12}');
    expect(await run('recover', { recover: [stop('web', 3)] })).toMatchObject({
      workloads: { web: { started: false, reason: 'STALE: older', seen: 12 } },
    });
  });
});
