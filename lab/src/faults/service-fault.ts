import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import type { LabPlan } from '../plan.js';
import type { Processes } from '../processes.js';
import { run } from '../run.js';

const TOOL = '/usr/bin/ipmitool';
const PIDS = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'];

/** Words of `service NAME`: the tool is gone from its mount namespace; it can start no process; neither any more. */
export const SERVICE_FAULTS = ['no-ipmitool', 'no-fork', 'whole'] as const;
export type ServiceFault = (typeof SERVICE_FAULTS)[number];

export const isServiceFault = (word: string): word is ServiceFault =>
  (SERVICE_FAULTS as readonly string[]).includes(word);

/** Where groups of processes can be given a limit; undefined: nowhere on this machine. */
const pidsRoot = (): string | undefined =>
  PIDS.find((dir) =>
    dir.endsWith('pids')
      ? existsSync(`${dir}/cgroup.procs`)
      : existsSync(`${dir}/cgroup.subtree_control`) &&
        readFileSync(`${dir}/cgroup.subtree_control`, 'utf8').split(/\s+/).includes('pids'),
  );

const prefix = (id: string): string => `muster-${id}-`;

/** NOT_FOUND where it does not run, FORBIDDEN where this machine or this kind of lab cannot do it. */
export async function breakService(
  plan: LabPlan,
  processes: Processes,
  name: string,
  fault: ServiceFault,
): Promise<void> {
  if (fault === 'whole') return mendService(plan, processes, name);
  const pid = processes.alive(name)?.pid;
  if (pid === undefined) throw new MusterError('NOT_FOUND', `${name} does not run`);
  if (plan.namespaces === undefined)
    throw new MusterError('FORBIDDEN', `${fault} needs root and netns mode: a loopback service has the machine's own`);
  if (fault === 'no-ipmitool') {
    if (!isHidden(pid)) await run('nsenter', [`--mount=/proc/${pid}/ns/mnt`, 'mount', '--bind', '/dev/null', TOOL]);
    return;
  }
  const root = pidsRoot();
  if (root === undefined)
    throw new MusterError('FORBIDDEN', 'no-fork: this machine has no cgroup that limits processes');
  const group = `${root}/${prefix(plan.id)}${name}`;
  mkdirSync(group, { recursive: true });
  writeFileSync(`${group}/cgroup.procs`, String(pid));
  // Below what there is already: from now on no process and no thread is added.
  writeFileSync(`${group}/pids.max`, '1');
}

const isHidden = (pid: number): boolean => readFileSync(`/proc/${pid}/mounts`, 'utf8').includes(` ${TOOL} `);

/** Ends both faults of a service, alive or not. */
export async function mendService(plan: LabPlan, processes: Processes, name: string): Promise<void> {
  const pid = processes.alive(name)?.pid;
  if (pid !== undefined && plan.namespaces !== undefined && isHidden(pid))
    await run('nsenter', [`--mount=/proc/${pid}/ns/mnt`, 'umount', TOOL]);
  const root = pidsRoot();
  if (root !== undefined && existsSync(`${root}/${prefix(plan.id)}${name}`))
    removeGroup(root, `${prefix(plan.id)}${name}`);
}

/** Of a lab whose processes have ended. */
export function removeProcessGroups(id: string): void {
  const root = pidsRoot();
  if (root === undefined) return;
  for (const name of readdirSync(root).filter((n) => n.startsWith(prefix(id)))) removeGroup(root, name);
}

function removeGroup(root: string, name: string): void {
  const group = `${root}/${name}`;
  writeFileSync(`${group}/pids.max`, 'max');
  for (const pid of readFileSync(`${group}/cgroup.procs`, 'utf8').split('\n').filter(Boolean))
    writeFileSync(`${root}/cgroup.procs`, pid);
  rmdirSync(group);
}
