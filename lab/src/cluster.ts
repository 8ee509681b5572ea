import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeUser } from '@nats-io/jwt';
import { createUser } from '@nats-io/nkeys';
import { credentialsFile, initCluster } from '#bus';
import type { OperatorKeys } from '#bus/init/nats-accounts.js';
import { MusterError } from '#contracts';
import { keyPair, seedOf } from '#contracts/keys/nkey.js';
import { clockEnvironment } from './clock/fake-clock.js';
import { PROJECT, type LabFolder, type LabRecord } from './folder.js';
import { CLUSTER } from './host-image.js';
import { instanceOf, knownHosts, natsUrls, SERVICE_PROCESSES, type LabPlan } from './plan.js';
import { type ProcessRecord, type Processes, startOf } from './processes.js';
import { PYTHON } from './python.js';
import { run } from './run.js';
import { Hopeless, until } from './until.js';

const NATS = 'nats';
const FORWARDER = 'forwarder';

/** Keys, users, nats.conf and muster.yaml, by the product's own `init`. */
export async function initLabCluster(
  folder: LabFolder,
  plan: LabPlan,
  o: { fencing: 'observe' | 'enforce'; stormCap?: number; services?: string },
): Promise<void> {
  // Its own copy: what is changed there is of this lab alone.
  if (o.services === undefined) cpSync(join(PROJECT, 'lab', 'services'), folder.at('services'), { recursive: true });
  await initCluster(folder.at('etc'), {
    cluster: CLUSTER,
    agents: knownHosts(plan).map((h) => h.node),
    natsListen: [...new Set(Object.values(natsUrls(plan)))].map((url) => url.replace('nats://', '')),
    storeDir: folder.at('etc', 'store'),
    config: {
      ansible: {
        services: o.services ?? folder.at('services'),
        privateKey: folder.at('ssh', 'id_ed25519'),
        knownHosts: folder.at('ssh', 'known_hosts'),
        python: PYTHON,
        user: process.getuid?.() === 0 ? 'root' : userName(),
        // Interfaces of a host are called as the networks that they are on.
        ...(plan.mode === 'netns' && { extraVars: { muster_agent_networks: { backend: 'backend' } } }),
      },
      agents: { nats: { management: [natsUrls(plan).management], backend: [natsUrls(plan).backend] } },
      initial: {
        fencing: {
          mode: o.fencing,
          ...(o.stormCap !== undefined && {
            storm: { brakeAtLeast: o.stormCap, capAtLeast: o.stormCap, flaps: o.stormCap },
          }),
        },
      },
    },
  });
  await issueAdmin(folder);
}

/** A user of the lab's own that may do anything, for faults of the store: `nats … --as admin`. */
async function issueAdmin(folder: LabFolder): Promise<void> {
  const keys = JSON.parse(readFileSync(folder.at('etc', 'keys', 'operator.key'), 'utf8')) as OperatorKeys;
  const pair = keyPair(seedOf(createUser()));
  const jwt = await encodeUser('admin', pair.getPublicKey(), keys.account, {}, { signer: keyPair(keys.services) });
  const file = credentialsFile(folder.at('etc'), 'admin');
  writeFileSync(file, JSON.stringify({ user: 'admin', seed: seedOf(pair), jwt }), { mode: 0o600 });
}

const userName = (): string => {
  const uid = String(process.getuid?.() ?? '');
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((l) => l.split(':')[2] === uid);
  return line?.split(':')[0] ?? 'root';
};

const inControl = (plan: LabPlan): { netns?: string } => (plan.namespaces ? { netns: plan.namespaces.ctl } : {});

/** COMMAND_FAILED with the server's own words where it ends at once. */
export async function startNats(folder: LabFolder, processes: Processes, plan: LabPlan): Promise<ProcessRecord> {
  const before = logSize(processes.log(NATS));
  const record = processes.start({
    name: NATS,
    argv: ['nats-server', '-c', folder.at('etc', 'nats.conf')],
    ...inControl(plan),
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

const logSize = (file: string): number => {
  try {
    return readFileSync(file, 'utf8').length;
  } catch {
    return 0; // no log yet: this is its first start
  }
};

export const killNats = (processes: Processes): Promise<ProcessRecord> => processes.kill(NATS);

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
  const argv = [process.execPath, tool, natsUrls(plan).management, credentialsFile(folder.at('etc'), user)];
  const enter = plan.namespaces === undefined ? [] : ['ip', 'netns', 'exec', plan.namespaces.ctl];
  const [command, ...args] = [...enter, ...argv, verb, subject, text];
  return (await run(command!, args, { timeoutMs: 10_000 })).trim();
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
  const argv = [process.execPath, join(PROJECT, 'dist/apps', service, 'src/main.js')];
  const env = {
    MUSTER_CONFIG: folder.at('etc', 'muster.yaml'),
    MUSTER_INSTANCE: instanceOf(name),
    ...clockEnvironment(folder, name),
    ...(service === 'gateway' && { MUSTER_LISTEN: gatewayListen(folder, plan, record) }),
  };
  if (record.restart === undefined) {
    processes.start({ name, argv, env, ledger: 'read-only', ...inControl(plan) });
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
    ...inControl(plan),
  });
}

const gatewaySocket = (folder: LabFolder): string => folder.at('run', 'gateway.sock');

const gatewayListen = (folder: LabFolder, plan: LabPlan, record: LabRecord): string =>
  plan.mode === 'netns' ? `unix:${gatewaySocket(folder)},127.0.0.1:9007` : `127.0.0.1:${record.port}`;

export function startServices(folder: LabFolder, processes: Processes, plan: LabPlan, record: LabRecord): void {
  for (const name of SERVICE_PROCESSES) startService(folder, processes, plan, record, name);
}

/** netns mode: the operator's way in from the machine's own namespace. */
export function startForwarder(folder: LabFolder, processes: Processes, plan: LabPlan, port: number): void {
  if (plan.mode !== 'netns') return;
  processes.start({
    name: FORWARDER,
    argv: [process.execPath, join(import.meta.dirname, 'forwarder.js'), String(port), gatewaySocket(folder)],
  });
}

/** COMMAND_FAILED names the first service that has ended by itself, with its last words. */
export function refuseDeadServices(processes: Processes): void {
  for (const name of [NATS, ...SERVICE_PROCESSES]) {
    const last = processes.last(name);
    if (last === undefined || startOf(last.pid) === last.start) continue;
    const words = readFileSync(last.log, 'utf8').trim().split('\n').at(-1) ?? '';
    throw new MusterError('COMMAND_FAILED', `${name} has ended: ${words}; its log is ${last.log}`);
  }
}
