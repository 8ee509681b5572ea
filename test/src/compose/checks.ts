import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { shownFiles } from '#bus/init/shown-files.js';
import { until } from '../../../lab/src/until.js';
import { services, type Composition, type Service } from './composition.js';
import { addresses, station as stationAddresses, type ControlMachine } from './control-machine.js';
import { bmcPassword, type Station } from './station.js';

/** Until all services of a composition that was told to start pass their health checks. */
const UP_MS = 180_000;
/** Until a service that was killed is healthy again: it starts in seconds, and is asked every 10 s. */
const AGAIN_MS = 90_000;
/** Three checks of at most 20 s each find out that one stands still. */
const STANDSTILL_MS = 120_000;

/** What is documented to be open: docs/compose.md. */
const documented = { loopback: [4222, 9007], management: [4222], backend: [4222] };

/** What the checks share: each adds to it what the next ones need. */
export interface Scene {
  machine: ControlMachine;
  composition: Composition;
  station: Station;
  token: string;
}

export interface Check {
  name: string;
  title: string;
  /** Resolves with what was seen, in a line; rejects with what was wrong. */
  run: (scene: Scene) => Promise<string>;
}

function same(what: string, seen: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(seen, expected))
    throw new Error(`${what}: ${JSON.stringify(seen)}, expected ${JSON.stringify(expected)}`);
}

function holds(what: string, is: boolean): void {
  if (!is) throw new Error(what);
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Names and addresses of the nodes on record: what a restart must not lose. */
async function fleet({ composition, token }: Scene): Promise<unknown> {
  const { exitCode, stdout, stderr } = await composition.cli(token, ['node', 'get', 'host1-S1', '--json']);
  holds(`node get: ${stderr}`, exitCode === 0);
  const { name, label, serial, networks, status, vars } = JSON.parse(stdout) as Record<string, unknown>;
  return { name, label, serial, networks, status, vars };
}

async function killed(scene: Scene, service: Service): Promise<string> {
  const { composition } = scene;
  const before = await composition.inspect(service);
  const since = performance.now();
  // Not by `docker kill`: that is an operator's word, and is obeyed.
  process.kill(before.State.Pid, 'SIGKILL');
  const after = await composition.healthy(service, AGAIN_MS, before.State.StartedAt);
  same(`${service}: container`, after.Id, before.Id);
  holds(`${service} was not restarted`, after.RestartCount > before.RestartCount);
  return `${service} ${seconds(since)}`;
}

async function allHealthy(composition: Composition, since: Partial<Record<Service, string>> = {}): Promise<void> {
  for (const service of services) await composition.healthy(service, UP_MS, since[service]);
}

export const checks: readonly Check[] = [
  {
    name: 'host-asked',
    title: 'without MUSTER_HOST nothing starts, and one line says why',
    async run({ composition }) {
      const { exitCode, stderr } = await composition.run(['up', '-d'], { without: ['MUSTER_HOST'] });
      holds('it started', exitCode !== 0);
      holds(`it says: ${stderr}`, stderr.includes('the name of this machine must be set'));
      return stderr.trim().split('\n').at(-1) ?? '';
    },
  },
  {
    name: 'init',
    title: 'init prints the admin token alone on stdout; a second one prints none and changes nothing',
    async run(scene) {
      const { composition } = scene;
      const first = await composition.run(['run', '--rm', '-T', 'init']);
      holds(`init: ${first.stderr}`, first.exitCode === 0);
      holds('stdout is no token', /^[0-9a-f]{64}$/.test(first.stdout));
      scene.token = first.stdout;
      const before = composition.volumes();
      const second = await composition.run(['run', '--rm', '-T', 'init']);
      same('second init', [second.exitCode, second.stdout], [0, '']);
      same('volumes', composition.volumes(), before);
      return `${Object.keys(before).length} files and folders in ${composition.project}_* as before`;
    },
  },
  {
    name: 'host-told',
    title: 'a container that is not told which machine it runs on ends, with one line',
    async run({ composition }) {
      const lone = await composition.run(['run', '--rm', '-T', '--no-deps', '-e', 'MUSTER_HOST=', 'fencer']);
      holds('the fencer started', lone.exitCode !== 0);
      const said = lone.stderr.split('\n').filter((line) => line.startsWith('muster'));
      same('lines', said.length, 1);
      holds(`it says: ${lone.stderr}`, said[0]?.includes('MUSTER_HOST and MUSTER_HOST_ADDRESSES must') === true);
      return said[0] ?? '';
    },
  },
  {
    name: 'up',
    title: 'all services come up, and pass their health checks',
    async run({ composition }) {
      const since = performance.now();
      await composition.done('up', '-d', '--no-build');
      await allHealthy(composition);
      return `${services.join(', ')} healthy after ${seconds(since)}`;
    },
  },
  {
    name: 'contained',
    title: 'no container is root, can write its root, can gain rights, or is without limits',
    async run({ composition }) {
      const seen: string[] = [];
      for (const service of services) {
        const { Config, HostConfig: host } = await composition.inspect(service);
        same(`${service}: limits`, [host.Memory > 0, host.PidsLimit > 0], [true, true]);
        same(`${service}: set up`, [host.Privileged, host.ReadonlyRootfs, host.CapDrop], [false, true, ['ALL']]);
        same(`${service}: restarts`, host.RestartPolicy.Name, 'unless-stopped');
        same(`${service}: user`, Config.User, '10001:10001');
        const status = (await composition.exec(service, 'cat', '/proc/1/status')).stdout;
        const line = (name: string): string => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
        const isDetector = service === 'detector';
        same(`${service}: uids`, line('Uid').split(/\s+/), ['10001', '10001', '10001', '10001']);
        same(
          `${service}: capabilities`,
          [line('CapPrm'), line('CapEff')].map((c) => BigInt(`0x${c}`)),
          [0n, 0n],
        );
        // NET_RAW is capability 13.
        same(`${service}: may gain`, BigInt(`0x${line('CapBnd')}`), isDetector ? 1n << 13n : 0n);
        same(`${service}: no-new-privileges`, line('NoNewPrivs'), isDetector ? '0' : '1');
        for (const folder of ['/', '/usr/bin', '/opt', '/etc/muster']) {
          const { exitCode } = await composition.exec(service, 'sh', '-c', `: > ${folder}/muster-was-here`);
          holds(`${service} can write ${folder}`, exitCode !== 0);
        }
        seen.push(service);
      }
      const ping = await composition.exec('detector', 'ping', '-c', '1', '-W', '2', addresses.management);
      holds(`the detector cannot ping: ${ping.stderr}`, ping.exitCode === 0);
      return seen.join(', ');
    },
  },
  {
    name: 'own-keys',
    title: 'each service sees its own keys, and no other’s',
    async run({ composition }) {
      for (const service of services) {
        const { stdout } = await composition.exec(service, 'sh', '-c', 'cd /etc/muster && find . -type f');
        const files = stdout.split('\n').map((file) => file.replace(/^\.\//, ''));
        const allowed = (file: string): boolean =>
          shownFiles[service].some((path) => file === path || file.startsWith(`${path}/`));
        same(
          `${service} sees`,
          files.filter((file) => !allowed(file)),
          [],
        );
        holds(`${service} sees nothing`, files.length > 1);
        const { HostConfig } = await composition.inspect(service);
        holds(`${service} has the engine's socket`, !JSON.stringify(HostConfig.Binds ?? []).includes('docker.sock'));
      }
      return 'as in docs/compose.md';
    },
  },
  {
    name: 'ports',
    title: 'a scan of every port finds what is documented, and nothing else',
    async run({ machine }) {
      const found = {
        loopback: await machine.openPorts('machine', '127.0.0.1'),
        management: await machine.openPorts('station', addresses.management),
        backend: await machine.openPorts('station', addresses.backend),
      };
      same('open', found, documented);
      // Sockets of datagrams that listen on a port of their own; the detector's probes leave from ports of the moment.
      const udp = (await machine.on('machine', 'ss', ['-Hlun'])).split('\n').filter((line) => line !== '');
      const fixed = udp
        .map((line) => line.trim().split(/\s+/)[3] ?? '')
        .filter((at) => Number(at.split(':').at(-1)) < 32_768);
      same('datagrams', fixed, []);
      return JSON.stringify(found);
    },
  },
  {
    name: 'locked',
    title: 'without a token HTTP answers 401, and without credentials NATS lets nobody in',
    async run(scene) {
      const { machine, composition, token } = scene;
      const http = (...more: string[]): Promise<string> =>
        machine.on('machine', 'curl', [
          '-s',
          '-o',
          '/dev/null',
          '-w',
          '%{http_code}',
          ...more,
          'http://127.0.0.1:9007/v1/nodes',
        ]);
      same('without a token', await http(), '401');
      same('with a wrong one', await http('-H', `authorization: Bearer ${'0'.repeat(64)}`), '401');
      // On stdin: an argument is seen by others.
      const config = `header = "authorization: Bearer ${token}"\n`;
      const right = await machine.on(
        'machine',
        'curl',
        ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-K', '-', 'http://127.0.0.1:9007/v1/nodes'],
        config,
      );
      same('with the admin’s', right, '200');
      const refused = await machine.on('station', process.execPath, ['--input-type=module', '-'], stranger);
      holds(`NATS says: ${refused}`, refused.includes("'Authorization Violation'"));
      const workers = await composition.cli(token, ['workers']);
      holds(`workers: ${workers.stderr}`, workers.exitCode === 0);
      for (const worker of ['provisioner-control1', 'fencer-control1'])
        holds(`no ${worker}: ${workers.stdout}`, workers.stdout.includes(worker));
      return `${refused}; its workers answer`;
    },
  },
  {
    name: 'killed',
    title: 'each service that is killed is started again, and the fleet is as it was',
    async run(scene) {
      const { composition, token } = scene;
      const created = await composition.cli(token, ['node', 'create', 'host1', 'S1', 'network.management=192.0.2.11']);
      holds(`node create: ${created.stderr}`, created.exitCode === 0);
      const before = await fleet(scene);
      const times: string[] = [];
      for (const service of services) {
        times.push(await killed(scene, service));
        await composition.healthy('gateway', AGAIN_MS);
        same(`after ${service}`, await answered(scene), before);
      }
      return times.join(', ');
    },
  },
  {
    name: 'own-host',
    title: 'the control machine, which is a node itself, is not to be fenced by its own fencer',
    async run({ composition, token }) {
      const does = async (args: string[], input = ''): Promise<void> => {
        const { exitCode, stderr } = await composition.cli(token, args, input);
        holds(`${args.join(' ')}: ${stderr}`, exitCode === 0);
      };
      const device = ['--driver', 'ipmitool', '--username', 'admin', '--password-stdin'];
      const seen: string[] = [];
      // Known by its name, where no address of it is on record; and another node with a device, for comparison.
      for (const [label, address, at] of [
        ['control1', '192.0.2.77', '192.0.2.98'],
        ['other', '192.0.2.12', '192.0.2.97'],
      ] as const) {
        await does(['node', 'create', label, 'S', `network.management=${address}`]);
        await does(['node', 'power-device', 'add', `${label}-S`, 'bmc', '--address', at, ...device], 'none');
        const dry = await composition.cli(token, [
          'node',
          'fence',
          `${label}-S`,
          '--reason',
          'test',
          '--dry-run',
          '--json',
        ]);
        const { gates } = JSON.parse(dry.stdout) as { gates: { gate: string; pass: boolean; detail: string }[] };
        seen.push(gates.find(({ gate }) => gate === 'NOT_FENCEABLE')?.detail ?? 'passes');
      }
      same('its own host', seen[0], 'No live fencer runs outside of it.');
      holds(`the other: ${seen[1]}`, seen[1] !== seen[0]);
      return seen.join(' ');
    },
  },
  {
    name: 'fencer-hand',
    title: 'the fencer reads the power of a real BMC by IPMI, asked over HTTP',
    async run({ composition, station, token }) {
      await station.startBmc();
      const device = ['--driver', 'ipmitool', '--username', 'muster', '--password-stdin'];
      const at = ['--address', stationAddresses.management];
      const added = await composition.cli(
        token,
        ['node', 'power-device', 'add', 'host1-S1', 'bmc', ...at, ...device],
        bmcPassword,
      );
      holds(`power-device add: ${added.stderr}`, added.exitCode === 0);
      const { exitCode, stdout, stderr } = await composition.cli(token, ['node', 'power-device', 'test', 'host1-S1']);
      holds(`power-device test: ${stdout} ${stderr}`, exitCode === 0 && /\bon\b/.test(stdout));
      return stdout.trim().replaceAll(/\s*\n\s*/g, ' | ');
    },
  },
  {
    name: 'provisioner-hand',
    title: 'Ansible logs in to a host by the key that init made',
    async run({ composition, station }) {
      const volume = join(composition.engine.volumes, `${composition.project}_config`, '_data');
      await station.startSsh(readFileSync(join(volume, 'ssh', 'id_ed25519.pub'), 'utf8').trim());
      const ansible = ['ansible', 'all', '-i', `${stationAddresses.management},`, '-u', 'root', '-m', 'ping', '-o'];
      const how = ['--private-key', '/etc/muster/ssh/id_ed25519', '-e', 'ansible_remote_tmp=/tmp/.muster-test-compose'];
      const ssh = '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null';
      const pinged = await composition.exec('provisioner', ...ansible, ...how, `--ssh-common-args=${ssh}`);
      holds(`ansible: ${pinged.stdout} ${pinged.stderr}`, pinged.exitCode === 0 && pinged.stdout.includes('"pong"'));
      return pinged.stdout.trim();
    },
  },
  {
    name: 'standstill',
    title: 'a service that stands still is ended by its health check, and started again',
    async run({ composition }) {
      const before = await composition.inspect('fencer');
      const pid = Number((await composition.exec('fencer', 'cat', '/run/muster/pid')).stdout);
      const since = performance.now();
      // To a process of a container that is not its first: the engine sees nothing of it.
      holds('not stopped', (await composition.exec('fencer', 'sh', '-c', `kill -STOP ${pid}`)).exitCode === 0);
      const after = await composition.healthy('fencer', STANDSTILL_MS, before.State.StartedAt);
      holds('it was not restarted', after.RestartCount > before.RestartCount);
      return `healthy again ${seconds(since)} after it stood still`;
    },
  },
  {
    name: 'engine',
    title: 'after a restart of the engine everything runs again, and the fleet is as it was',
    async run(scene) {
      const { composition } = scene;
      const before = await fleet(scene);
      const started: Partial<Record<Service, string>> = {};
      for (const service of services) started[service] = (await composition.inspect(service)).State.StartedAt;
      const since = performance.now();
      await composition.engine.stop();
      await composition.engine.start();
      await allHealthy(composition, started);
      same('the fleet', await answered(scene), before);
      return `healthy again after ${seconds(since)}`;
    },
  },
  {
    name: 'init-again',
    title: 'init on a running installation changes nothing',
    async run({ composition }) {
      const settled = (): Record<string, string> =>
        Object.fromEntries(
          Object.entries(composition.volumes()).filter(([path]) => /_(config|shown-\w+)\//.test(path)),
        );
      const before = settled();
      const { exitCode, stdout } = await composition.run(['run', '--rm', '-T', 'init']);
      same('init', [exitCode, stdout], [0, '']);
      same('volumes', settled(), before);
      return `${Object.keys(before).length} files and folders as before`;
    },
  },
  {
    name: 'silent',
    title: 'no log and no container’s description holds a token or a key, and no file the admin token',
    async run({ composition, token }) {
      const keys = Object.values(shownFiles)
        .flat()
        .filter((file) => file.startsWith('keys/'))
        .map((file) =>
          readFileSync(join(composition.engine.volumes, `${composition.project}_config`, '_data', file), 'utf8'),
        );
      const seeds = keys.flatMap((text) => text.match(/[0-9a-f]{64}|S[A-Z2-7]{57}/g) ?? []);
      holds('no keys were read', seeds.length >= 4);
      const logs = await composition.run(['logs', '--no-color']);
      const described = await Promise.all(services.map((service) => composition.inspect(service)));
      const all = `${logs.stdout}${logs.stderr}${JSON.stringify(described)}`;
      holds('a secret is in the open', ![token, ...seeds].some((secret) => all.includes(secret)));
      const stored = composition.contents().filter((content) => content.includes(token));
      same('files that hold the admin token', stored.length, 0);
      return `${all.length} characters, ${seeds.length + 1} secrets`;
    },
  },
];

/** As soon as inventory answers through the gateway. */
const answered = (scene: Scene): Promise<unknown> => until('the fleet', AGAIN_MS, () => fleet(scene), 500);

const stranger = `
import { connect } from 'node:net';
const socket = connect({ host: ${JSON.stringify(addresses.management)}, port: 4222, timeout: 15000 });
let said = '';
socket.setEncoding('utf8').on('data', (more) => (said += more));
socket.on('connect', () => socket.write('CONNECT {"verbose":false,"pedantic":false}\\r\\nPING\\r\\n'));
socket.on('timeout', () => socket.destroy());
socket.on('close', () => console.log(said.split('\\r\\n').filter((line) => line.startsWith('-ERR') || line === 'PONG').join(' ')));
`;
