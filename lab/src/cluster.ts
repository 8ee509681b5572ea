import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeUser } from '@nats-io/jwt';
import { createUser } from '@nats-io/nkeys';
import { credentialsFile, hostFolder, initCluster, initHosts, type BusCredentials } from '#bus';
import type { OperatorKeys } from '#bus/init/nats-accounts.js';
import { authorityOf } from '#bus/init/tls-files.js';
import { MusterError } from '#contracts';
import { keyPair, seedOf } from '#contracts/keys/nkey.js';
import { clockEnvironment } from './clock/fake-clock.js';
import { clusterNats } from './controls/cluster-nats.js';
import { askMonitor, MONITOR_PORT } from './controls/monitor.js';
import { onControl } from './controls/on-control.js';
import { makeCloningDisk, makeStoreImage } from './faults/store-images.js';
import { PROJECT, type LabFolder, type LabRecord } from './folder.js';
import {
  controlOf,
  controlOfProcess,
  instanceOf,
  knownHosts,
  natsProcess,
  natsUrls,
  serviceProcesses,
  type ControlPlan,
  type LabPlan,
} from './plan.js';
import { type ProcessRecord, type Processes, startOf } from './processes.js';
import { PYTHON } from './python.js';
import { run } from './run.js';
import { Hopeless, until } from './until.js';

const FORWARDER = 'forwarder';

/** Keys, users, nats.conf and muster.yaml, by the product's own `init`; a folder of them for each of several control hosts. */
export async function initLabCluster(
  folder: LabFolder,
  plan: LabPlan,
  o: { fencing: 'observe' | 'enforce'; stormCap?: number; services?: string; storeDisks?: boolean },
): Promise<void> {
  // Its own copy: what is changed there is of this lab alone.
  if (o.services === undefined) cpSync(join(PROJECT, 'lab', 'services'), folder.at('services'), { recursive: true });
  const config = {
    ansible: {
      services: o.services ?? folder.at('services'),
      privateKey: folder.at('ssh', 'id_ed25519'),
      knownHosts: folder.at('ssh', 'known_hosts'),
      python: PYTHON,
      user: userName(),
      // Interfaces of a host are called as the networks that they are on.
      ...(plan.mode === 'netns' && { extraVars: { muster_agent_networks: { backend: 'backend' } } }),
    },
    agents: { nats: natsUrls(plan) },
    initial: {
      fencing: {
        mode: o.fencing,
        ...(o.stormCap !== undefined && {
          storm: { brakeAtLeast: o.stormCap, capAtLeast: o.stormCap, flaps: o.stormCap },
        }),
      },
    },
  };
  const etc = folder.at('etc');
  const [first, ...others] = plan.controls as [ControlPlan];
  const agents = knownHosts(plan).map((h) => h.node);
  if (others.length === 0) {
    const natsListen = addressesOf(plan, first).map((address) => `${address}:${plan.natsPort}`);
    await initCluster(etc, { cluster: plan.cluster, agents, natsListen, storeDir: join(etc, 'store'), config });
    return await issueAdmin(folder);
  }
  await initHosts(etc, {
    cluster: plan.cluster,
    agents,
    hosts: plan.controls.map(({ name, networks: { management, backend } }) => ({ name, management, backend })),
    place: ({ name }) => ({ dir: hostFolder(etc, name), store: join(hostFolder(etc, name), 'store') }),
    monitor: MONITOR_PORT,
    config,
  });
  await issueAdmin(folder);
  if (o.storeDisks !== true) return;
  await makeCloningDisk(folder);
  for (const control of plan.controls)
    await makeStoreImage(folder, control, join(controlEtc(folder, plan, control), 'store'));
}

const addressesOf = (plan: LabPlan, { networks: { management, backend } }: ControlPlan): string[] =>
  plan.mode === 'netns' ? [management, backend] : [management];

/** What `muster init` has written for a control host: muster.yaml and what stands in it. */
export const controlEtc = (folder: LabFolder, plan: LabPlan, control: ControlPlan): string =>
  plan.controls.length > 1 ? hostFolder(folder.at('etc'), control.name) : folder.at('etc');

/** What nats-server of a control host reads. */
export const natsConf = (folder: LabFolder, plan: LabPlan, control: ControlPlan): string =>
  join(controlEtc(folder, plan, control), 'nats.conf');

/** A user of the lab's own that may do anything, for faults of the store: `nats … --as admin`. */
async function issueAdmin(folder: LabFolder): Promise<void> {
  const keys = JSON.parse(readFileSync(folder.at('etc', 'keys', 'operator.key'), 'utf8')) as OperatorKeys;
  const pair = keyPair(seedOf(createUser()));
  const jwt = await encodeUser('admin', pair.getPublicKey(), keys.account, {}, { signer: keyPair(keys.services) });
  const file = credentialsFile(folder.at('etc'), 'admin');
  const ca = authorityOf(folder.at('etc'));
  const credentials: BusCredentials = { user: 'admin', seed: seedOf(pair), jwt, ...(ca !== undefined && { ca }) };
  writeFileSync(file, JSON.stringify(credentials), { mode: 0o600 });
}

/** Of whom the lab is started by: as such it lets itself in by ssh. */
export const userName = (): string => {
  if (process.getuid?.() === 0) return 'root';
  const uid = String(process.getuid?.() ?? '');
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((l) => l.split(':')[2] === uid);
  return line?.split(':')[0] ?? 'root';
};

/** netns: one of several control hosts has a name of its own. */
const inControl = (control: ControlPlan): { netns?: string; hostname?: string } => ({
  ...(control.netns !== undefined && { netns: control.netns }),
  ...(control.name !== 'ctl' && { hostname: control.name }),
});

/** COMMAND_FAILED with the server's own words where it ends at once. */
export async function startNats(
  folder: LabFolder,
  processes: Processes,
  plan: LabPlan,
  control = controlOf(plan, 1),
): Promise<ProcessRecord> {
  const name = natsProcess(plan, control);
  const before = logSize(processes.log(name));
  const record = processes.start({
    name,
    argv: [plan.controls.length > 1 ? clusterNats().path : 'nats-server', '-c', natsConf(folder, plan, control)],
    ...inControl(control),
  });
  await until(`nats-server to be ready; see ${record.log}`, 15_000, () => {
    const said = readFileSync(record.log, 'utf8').slice(before);
    if (said.includes('Server is ready')) return true;
    if (startOf(record.pid) !== record.start)
      throw new Hopeless(new MusterError('COMMAND_FAILED', `nats-server ended: ${said.trim().split('\n').at(-1)}`));
    return undefined;
  });
  return record;
}

/** All servers; those of a cluster are waited for until it can be written to. */
export async function startEveryNats(folder: LabFolder, processes: Processes, plan: LabPlan): Promise<void> {
  await Promise.all(plan.controls.map((c) => startNats(folder, processes, plan, c)));
  if (plan.controls.length > 1)
    await until('the NATS cluster to have a leader', 45_000, async () =>
      (await Promise.all(plan.controls.map((c) => askMonitor(c, '/healthz')))).every((a) => a.includes('"ok"'))
        ? true
        : undefined,
    );
}

const logSize = (file: string): number => {
  try {
    return readFileSync(file, 'utf8').length;
  } catch {
    return 0; // no log yet: this is its first start
  }
};

export const killNats = (processes: Processes, plan: LabPlan, control = controlOf(plan, 1)): Promise<ProcessRecord> =>
  processes.kill(natsProcess(plan, control));

/** One message as one of the users in etc/creds; answers what was answered. COMMAND_FAILED with the program's last words. */
export async function useNats(
  folder: LabFolder,
  plan: LabPlan,
  user: string,
  verb: 'publish' | 'request',
  subject: string,
  text: string,
): Promise<string> {
  const tool = join(import.meta.dirname, 'nats-tool.js');
  const servers = natsUrls(plan).management.join(',');
  const argv = [process.execPath, tool, servers, credentialsFile(folder.at('etc'), user), verb, subject, text];
  const [command, ...args] = onControl(folder, plan, argv);
  return (await run(command, args, { timeoutMs: 10_000 })).trim();
}

const keeperOf = (name: string): string => `keep-${name}`;

/** One service process, e.g. `fencer.1`. Where the lab restarts services, its keeper starts it. */
export function startService(
  folder: LabFolder,
  processes: Processes,
  plan: LabPlan,
  record: LabRecord,
  name: string,
): void {
  const service = name.split('.')[0]!;
  const control = controlOfProcess(plan, name);
  const argv = [process.execPath, join(PROJECT, 'dist/apps', service, 'src/main.js')];
  const env = {
    MUSTER_CONFIG: join(controlEtc(folder, plan, control), 'muster.yaml'),
    MUSTER_INSTANCE: instanceOf(name),
    ...clockEnvironment(folder, name),
    ...(service === 'gateway' && { MUSTER_LISTEN: gatewayListen(folder, plan, record, control) }),
  };
  if (record.restart === undefined) {
    processes.start({ name, argv, env, ledger: 'read-only', ...inControl(control) });
    return;
  }
  if (processes.alive(name) !== undefined) throw new MusterError('ALREADY_EXISTS', `${name} runs already`);
  if (processes.alive(keeperOf(name)) !== undefined) {
    processes.signal(keeperOf(name), 'SIGUSR1');
    return;
  }
  const keep = [PYTHON, '-I', '-S', folder.at('lib', 'keep.py'), String(record.restart)];
  const where = [folder.at('run', `${name}.json`), name, processes.log(name)];
  processes.start({
    name: keeperOf(name),
    argv: [...keep, ...where, ...argv],
    env,
    ledger: 'read-only',
    ...inControl(control),
  });
}

const gatewaySocket = (folder: LabFolder, control: ControlPlan): string =>
  folder.at('run', control.name === 'ctl' ? 'gateway.sock' : `gateway.${control.n}.sock`);

const gatewayListen = (folder: LabFolder, plan: LabPlan, record: LabRecord, control: ControlPlan): string =>
  plan.mode === 'netns' ? `unix:${gatewaySocket(folder, control)},127.0.0.1:9007` : `127.0.0.1:${record.port}`;

export function startServices(folder: LabFolder, processes: Processes, plan: LabPlan, record: LabRecord): void {
  for (const name of serviceProcesses(plan)) startService(folder, processes, plan, record, name);
}

const forwarderOf = (control: ControlPlan): string =>
  control.name === 'ctl' ? FORWARDER : `${FORWARDER}.${control.n}`;

/** netns mode: the operator's way to the gateway of a control host, from the machine's own namespace. */
export function startForwarder(folder: LabFolder, processes: Processes, record: LabRecord, control: ControlPlan): void {
  if (control.netns === undefined || processes.alive(forwarderOf(control)) !== undefined) return;
  const port = [record.port, ...(record.morePorts ?? [])][control.n - 1];
  processes.start({
    name: forwarderOf(control),
    argv: [process.execPath, join(import.meta.dirname, 'forwarder.js'), String(port), gatewaySocket(folder, control)],
  });
}

/** Whoever has a connection by it sees it closed, and gets no other. */
export async function endForwarder(processes: Processes, control: ControlPlan): Promise<void> {
  if (processes.alive(forwarderOf(control)) !== undefined) await processes.kill(forwarderOf(control));
}

/** COMMAND_FAILED names the first process that has ended by itself and is not started again, with its last words. */
export function refuseDeadServices(processes: Processes, plan: LabPlan): void {
  for (const name of [...plan.controls.map((c) => natsProcess(plan, c)), ...serviceProcesses(plan)]) {
    if (processes.alive(keeperOf(name)) !== undefined) continue;
    const last = processes.last(name);
    if (last === undefined || startOf(last.pid) === last.start) continue;
    const words = readFileSync(last.log, 'utf8').trim().split('\n').at(-1) ?? '';
    throw new MusterError('COMMAND_FAILED', `${name} has ended: ${words}; its log is ${last.log}`);
  }
}
