import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import { execInHost } from '../exec.js';
import type { LabFolder } from '../folder.js';
import { hostState } from '../hosts.js';
import type { HostPlan, LabPlan } from '../plan.js';
import type { RejoinParts } from './rejoin-parts.js';

/** agent.json of a host, as far as the lab changes it. */
interface AgentFile {
  rejoin?: RejoinParts;
}

/** An operator's edit on a host that runs: changes its agent.json, and restarts its agent. NOT_FOUND where it is dead. */
export async function editAgent<T extends AgentFile>(
  folder: LabFolder,
  plan: LabPlan,
  host: HostPlan,
  change: (file: T) => T,
): Promise<T> {
  const { pid } = await hostState(folder, host);
  if (pid === null)
    throw new MusterError('NOT_FOUND', `${host.name} is not running; boot it with: lab boot ${host.name}`);
  const root = plan.mode === 'netns' ? `/proc/${pid}/root` : folder.host(host.name, 'root');
  const file = `${root}/etc/muster/agent.json`;
  const changed = change(JSON.parse(readFileSync(file, 'utf8')) as T);
  writeFileSync(`${file}.new`, `${JSON.stringify(changed, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  const done = await execInHost(folder, plan.mode, host, ['systemctl', 'restart', 'muster-agent.service'], true);
  if (done.exitCode !== 0)
    throw new MusterError('COMMAND_FAILED', `${host.name}: its agent does not start: ${done.stderr.trim()}`);
  return changed;
}
