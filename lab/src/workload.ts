import { readdirSync } from 'node:fs';
import { NAME_PATTERN, MusterError, type WorkloadRecord } from '#contracts';
import { Api } from './fleet/api.js';
import type { LabFolder } from './folder.js';
import { hostOf } from './plan.js';
import { PYTHON } from './python.js';
import { until } from './until.js';

/**
 * A workload that beats into the ledger. It is registered with the node that it shall run on, and inventory starts it there
 * the way that it starts any: there is no other way onto a host. Resolves at its first beat there.
 */
export async function addWorkload(folder: LabFolder, name: string, on: string): Promise<WorkloadRecord> {
  if (!NAME_PATTERN.test(name)) throw new MusterError('BAD_REQUEST', `"${name}" cannot name a workload`);
  const host = hostOf(folder.plan(), on);
  const ledger = folder.at('ledger');
  const mine = (): string[] => readdirSync(ledger).filter((f) => f.startsWith(`${name}@${host.name}@`));
  const before = mine().length;
  const workload = await new Api(folder.apis, folder.token).put<WorkloadRecord>(`/v1/workloads/${name}`, {
    desired: 'running',
    node: host.node,
    recovery: {
      driver: 'ansible',
      spec: { exec: `${PYTHON} -I -S ${folder.at('lib', 'heartbeat.py')} ${name}`, restart: 'on-failure' },
    },
  });
  await until(
    `workload ${name} to beat on ${host.name} (its unit's log: ${folder.host(host.name)})`,
    60_000,
    () => (mine().length > before || (before > 0 && mine().length > 0) ? true : undefined),
    50,
  );
  return workload;
}
