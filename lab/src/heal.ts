import { bmcAlive, isMiswired, ownWiring, rewire, setFault, setPower, startBmc } from './bmc.js';
import { setClock, wrongClocks } from './clock/fake-clock.js';
import { startService } from './cluster.js';
import { healControl } from './controls/control-host.js';
import { openFirewall } from './faults/firewall.js';
import { mendService } from './faults/service-fault.js';
import { healStoreDisk } from './faults/store-disk.js';
import type { LabFolder, LabRecord } from './folder.js';
import { bootHost, hostState, thawHost } from './hosts.js';
import { askPeers, PEERS, startPeers } from './peers/peers-process.js';
import { natsProcess, serviceProcesses, type HostPlan, type LabPlan } from './plan.js';
import type { Processes } from './processes.js';

/** Ends every fault that the lab knows, in the order in which the parts need each other. Answers what it found and undid. */
export async function healAll(
  folder: LabFolder,
  processes: Processes,
  plan: LabPlan,
  record: LabRecord,
  hosts: readonly HostPlan[],
): Promise<string[]> {
  const undone: string[] = [];
  for (const name of Object.keys(wrongClocks(folder))) {
    setClock(folder, plan, name, '0');
    undone.push(`clock of ${name} set right`);
  }
  undone.push(...(await healStoreDisk(folder, processes, plan)));
  for (const control of plan.controls)
    if (processes.last(natsProcess(plan, control)) !== undefined)
      undone.push(...(await healControl({ folder, processes, plan, record, control })));
  for (const name of serviceProcesses(plan)) {
    if (processes.last(name) === undefined) continue;
    await mendService(plan, processes, name);
    if (processes.alive(name) === undefined) {
      startService(folder, processes, plan, record, name);
      undone.push(`${name} started`);
    } else processes.signal(name, 'SIGCONT');
  }
  undone.push(...(await healPeers(folder, processes, plan)));
  await Promise.all(
    hosts.map(async (h) => {
      setFault(folder, h, 'ok');
      if (await openFirewall(h)) undone.push(`firewall of ${h.name} opened`);
      if (isMiswired(folder, h)) {
        await rewire(folder, processes, plan, h, ownWiring(h));
        undone.push(`BMC of ${h.name} wired to it`);
      }
      if (!bmcAlive(processes, h)) {
        await startBmc(folder, processes, plan, h);
        undone.push(`BMC of ${h.name} started`);
      }
      if ((await hostState(folder, h)).running) {
        await thawHost(folder, h);
        return;
      }
      setPower(folder, h, 'on');
      await bootHost(folder, h);
      undone.push(`${h.name} booted`);
    }),
  );
  return undone;
}

async function healPeers(folder: LabFolder, processes: Processes, plan: LabPlan): Promise<string[]> {
  if (processes.last(PEERS) === undefined) return [];
  if (processes.alive(PEERS) === undefined) {
    await startPeers(folder, processes, plan);
    return ['simulated peers started'];
  }
  const { dead } = await askPeers(folder, { state: true });
  if (dead.length === 0) return [];
  await askPeers(folder, { boot: dead });
  return [`${dead.length} simulated peers booted`];
}
