import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isSettledJob, type JobRecord, type NodeStatus, type NodeView } from '#contracts';
import type { Answer } from '../../lab/src/fleet/api.js';
import type { Fleet } from '../../lab/src/fleet/fleet.js';
import { assignedTo } from './observations.js';

/** Playbooks that come with Muster. */
const OWN_PLAYBOOKS = join(import.meta.dirname, '..', '..', '..', 'playbooks');

/** A POST of the clusterm surface, and the job that it started. */
export async function start(fleet: Fleet, path: string, body: Record<string, unknown>): Promise<JobRecord> {
  const before = new Set((await latest(fleet)).map((job) => job.id));
  const answer = await fleet.api.exchange('POST', path, body);
  assert.deepEqual(answer, { status: 200, text: '' }, `POST ${path}`);
  const kind = path.split('/')[1];
  // The answer names no job, and the replica that lists them may hear of it later than the one that took it.
  return fleet.until(
    `the job of ${path}`,
    async () => (await latest(fleet)).find((job) => job.kind === kind && !before.has(job.id)),
    5_000,
  );
}

/** A POST of the clusterm surface that must be refused with this text, which may be given by its beginning. */
export async function refused(fleet: Fleet, path: string, body: unknown, text: string | RegExp): Promise<void> {
  const answer: Answer = await fleet.api.exchange('POST', path, body);
  assert.equal(answer.status, 500, `POST ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
  if (typeof text === 'string') assert.equal(answer.text, `${text}\n`);
  else assert.match(answer.text, text);
}

/** Newest first. */
const latest = async (fleet: Fleet): Promise<JobRecord[]> =>
  (await fleet.api.get<{ items: JobRecord[] }>('/v1/jobs?limit=20')).items;

export const ended = (fleet: Fleet, job: JobRecord, timeoutMs = 90_000): Promise<JobRecord> =>
  fleet.until(
    `${job.desc} to end`,
    async () => {
      const now = await fleet.job(job.id);
      return isSettledJob(now) ? now : undefined;
    },
    timeoutMs,
  );

export async function completed(fleet: Fleet, job: JobRecord, timeoutMs?: number): Promise<JobRecord> {
  const done = await ended(fleet, job, timeoutMs);
  assert.equal(done.status, 'Complete', `${done.desc}: ${done.error}`);
  return done;
}

/** Runs on a node by now: a worker has taken it. */
const running = (fleet: Fleet, job: JobRecord): Promise<JobRecord> =>
  fleet.until(
    `${job.desc} to run`,
    async () => {
      const now = await fleet.job(job.id);
      return now.status === 'Running' ? now : undefined;
    },
    20_000,
  );

export async function statuses(fleet: Fleet, hosts: readonly string[]): Promise<NodeStatus[]> {
  return Promise.all(hosts.map(async (h) => (await fleet.node(h)).status));
}

const isFree = (n: NodeView): boolean => n.status === 'Unallocated' || n.status === 'Decommissioned';

/** So many hosts out of allocation; where there are not enough, idle workers are decommissioned. */
export async function freeHosts(fleet: Fleet, count: number): Promise<string[]> {
  const all = await fleet.nodes();
  const free = all.filter(isFree).map((n) => fleet.hostOf(n.name));
  if (free.length >= count) return free.slice(0, count);
  const idle = (await idleWorkers(fleet)).slice(0, count - free.length);
  assert.equal(idle.length + free.length, count, 'the fleet has too few idle workers');
  const nodes = idle.map((h) => fleet.nodeOf(h));
  await completed(fleet, await start(fleet, '/decommission/nodes', { nodes }));
  return [...free, ...idle];
}

/** Allocated workers without workloads, the last host first. */
export async function idleWorkers(fleet: Fleet): Promise<string[]> {
  const nodes = (await fleet.nodes()).filter((n) => n.status === 'Allocated' && n.hostGroup === 'service-worker');
  const idle: string[] = [];
  for (const n of nodes) if ((await assignedTo(fleet, fleet.hostOf(n.name))).length === 0) idle.push(n.name);
  return idle.reverse().map((n) => fleet.hostOf(n));
}

/** A workload stopped where it runs, and gone. */
export async function withoutWork(fleet: Fleet, name: string): Promise<void> {
  await fleet.api.put(`/v1/workloads/${name}`, { desired: 'stopped' });
  await fleet.until(
    `${name} to be stopped`,
    async () => ((await fleet.workload(name)).stop === undefined ? true : undefined),
    60_000,
  );
  await fleet.api.request('DELETE', `/v1/workloads/${name}`);
}

/**
 * What requests decide of all nodes, and the newest job: a refused one must leave it alone. Not their revisions: while a
 * fleet is young the observers put on record how each host shows that it lives.
 */
export async function everything(fleet: Fleet): Promise<unknown> {
  const [nodes, jobs] = await Promise.all([fleet.nodes(), fleet.api.get<{ items: JobRecord[] }>('/v1/jobs?limit=1')]);
  const asked = nodes.map((n) => ({
    ...{ name: n.name, label: n.label, serial: n.serial, hostGroup: n.hostGroup, networks: n.networks, vars: n.vars },
    ...{ status: n.status, prevStatus: n.prevStatus, cordon: n.cordon, maintenance: n.maintenance },
    ...{ powerLevels: n.powerLevels, external: n.external, lastJob: n.lastJob, createdAt: n.createdAt },
  }));
  return { nodes: asked, job: jobs.items[0]?.id };
}

/**
 * Has the provisioners use a copy of the playbooks in which one file is another, by the configuration of the API, for
 * as long as `work` takes.
 */
export async function withPlaybook<T>(fleet: Fleet, file: string, text: string, work: () => Promise<T>): Promise<T> {
  const folder = join(fleet.options.dir, `playbooks-${process.hrtime.bigint()}`);
  await cp(OWN_PLAYBOOKS, folder, { recursive: true });
  await cp(join(folder, file), join(folder, `own-${file}`));
  await writeFile(join(folder, file), text);
  const before = await fleet.api.get<{ ansible: { playbook_location: string } }>('/config');
  await configure(fleet, { playbook_location: folder });
  try {
    return await work();
  } finally {
    await configure(fleet, { playbook_location: before.ansible.playbook_location });
    await rm(folder, { recursive: true });
  }
}

async function configure(fleet: Fleet, ansible: Record<string, string>): Promise<void> {
  const answer = await fleet.api.exchange('POST', '/config', { config: { ansible } });
  assert.equal(answer.status, 200, answer.text);
}

/** In a folder that outlives a boot of the host; named for the fleet, since loopback hosts share the machine's. */
const gateOf = (fleet: Fleet): string => `/var/tmp/${basename(fleet.options.dir)}-gate`;

/** A playbook that stands still on every node until {@link openGate}, and goes on with the own one then. */
export const gated = (fleet: Fleet, file: string): string => `- name: Stand still
  hosts: all
  gather_facts: false
  environment: '{{ muster_environment }}'
  tasks:
    - name: Gate
      ansible.builtin.shell: 'until [ -e ${gateOf(fleet)} ]; do sleep 0.1; done; : scenario-gate {{ inventory_hostname }}'
- name: Go on
  ansible.builtin.import_playbook: own-${file}
`;

export const openGate = async (fleet: Fleet, hosts: readonly string[]): Promise<void> =>
  void (await Promise.all(hosts.map((h) => fleet.lab('exec', h, '--', 'touch', gateOf(fleet)))));
export const closeGate = async (fleet: Fleet, hosts: readonly string[]): Promise<void> =>
  void (await Promise.all(hosts.map((h) => fleet.lab('exec', h, '--', 'rm', '-f', gateOf(fleet)))));

/** Processes that wait at the gate on a node: more than one is Ansible run twice at once. Those of another fleet do not count. */
export function atGate(fleet: Fleet, host: string): number {
  const [gate, mark] = [`${gateOf(fleet)} ]`, `scenario-gate ${fleet.nodeOf(host)}`];
  const shells = new Map<string, string>();
  for (const pid of readdirSync('/proc').filter((p) => /^\d+$/.test(p)))
    try {
      const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const command = argv[1] === '-c' ? (argv[2] ?? '') : '';
      if (!command.startsWith('until ') || !command.includes(gate) || !command.includes(mark)) continue;
      shells.set(pid, /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '');
    } catch {
      continue; // it ended while we looked
    }
  // A shell looks like itself for a moment when it has forked, before its child becomes `sleep`.
  return [...shells.values()].filter((parent) => !shells.has(parent)).length;
}

export const waitAtGate = (fleet: Fleet, hosts: readonly string[]): Promise<true> =>
  fleet.until(
    `${hosts.join(', ')} to stand at the gate`,
    async () => (hosts.every((h) => atGate(fleet, h) === 1) ? true : undefined),
    30_000,
  );

/** A job on these hosts that stands at the gate when this answers. */
export async function startGated(
  fleet: Fleet,
  hosts: readonly string[],
  path: string,
  body: Record<string, unknown>,
): Promise<JobRecord> {
  const job = await running(fleet, await start(fleet, path, body));
  await waitAtGate(fleet, hosts);
  return fleet.job(job.id);
}
