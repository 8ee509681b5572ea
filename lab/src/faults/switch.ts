import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import type { LabFolder } from '../folder.js';
import { locked } from '../locked.js';
import { hostOf, NETWORKS, type LabPlan } from '../plan.js';
import { run } from '../run.js';
import type { End, SwitchFault } from './switch-fault.js';
import { switchRules, type SwitchPorts } from './switch-rules.js';

export function switchPorts(plan: LabPlan): SwitchPorts {
  const ports: SwitchPorts = { management: {}, backend: {}, oob: {} };
  for (const c of plan.machine === undefined ? plan.controls : [plan.machine])
    if (c.ports !== undefined) for (const network of NETWORKS) ports[network][c.name] = c.ports[network];
  ports.oob['bmc'] = 'bmc';
  if (plan.peers.length > 0)
    for (const network of ['management', 'backend'] as const) ports[network]['peers'] = `peer-${network}`;
  for (const h of plan.hosts)
    if (h.ports !== undefined)
      for (const network of ['management', 'backend'] as const) ports[network][h.name] = h.ports[network];
  return ports;
}

/** A control host, `peers` (all of them) where there are some, or a host by either of its names. NODE_UNKNOWN */
export const endOf =
  (plan: LabPlan) =>
  (name: string): End =>
    switchPorts(plan).management[name] === undefined ? hostOf(plan, name).name : name;

const file = (folder: LabFolder): string => folder.at('run', 'switch-faults.list');

/** Those in force. */
export const switchFaults = (folder: LabFolder): SwitchFault[] =>
  existsSync(file(folder)) ? (JSON.parse(readFileSync(file(folder), 'utf8')) as SwitchFault[]) : [];

/**
 * Changes what the switches do wrong, all at one instant; two commands at once do not lose each other's faults.
 * FORBIDDEN in loopback mode, COMMAND_FAILED with nft's own words
 */
export async function changeSwitchFaults(
  folder: LabFolder,
  plan: LabPlan,
  change: (now: SwitchFault[]) => SwitchFault[],
): Promise<SwitchFault[]> {
  const sw = plan.namespaces?.sw;
  if (sw === undefined)
    throw new MusterError('FORBIDDEN', 'that needs root and netns mode: the loopback has no switch');
  return await locked(folder.at('run', 'switch-faults.lock'), async () => {
    const now = switchFaults(folder);
    const faults = change(now);
    if (faults.length === 0 && now.length === 0) return faults;
    const rules = switchRules(faults, switchPorts(plan));
    await run('ip', ['netns', 'exec', sw, 'nft', '-f', '-'], { input: rules });
    writeFileSync(`${file(folder)}.new`, JSON.stringify(faults));
    renameSync(`${file(folder)}.new`, file(folder));
    return faults;
  });
}
