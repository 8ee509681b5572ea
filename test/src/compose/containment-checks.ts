import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownFiles } from '#bus/init/shown-files.js';
import { holds, http, same, type Check } from './check.js';
import { services, settings, type Composition, type Service } from './composition.js';
import { addresses } from './control-machine.js';

/** What is documented to be open: docs/compose.md. */
const documented = { loopback: [4222, 9007], management: [4222], backend: [4222] };

/** What a container may, what it sees, and who is let in. */
export const containmentChecks: readonly Check[] = [
  {
    name: 'contained',
    needs: ['up'],
    title: 'no container is root, can write its root, can gain rights, is without limits, or has what builds programs',
    async run({ composition }) {
      await Promise.all(services.map((service) => isContained(composition, service)));
      const ping = await composition.exec('detector', 'ping', '-c', '1', '-W', '2', addresses.management);
      holds(`the detector cannot ping: ${ping.stderr}`, ping.exitCode === 0);
      return services.join(', ');
    },
  },
  {
    name: 'own-keys',
    needs: ['up'],
    title: 'each service sees its own keys, and no other’s',
    async run({ composition }) {
      await Promise.all(services.map((service) => seesItsOwn(composition, service)));
      return 'as in docs/compose.md';
    },
  },
  {
    name: 'ports',
    needs: ['up'],
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
    needs: ['up'],
    title:
      'without a token HTTP answers 401; NATS speaks TLS alone, under our CA, and lets nobody in without credentials',
    async run(scene) {
      const { machine, composition, token } = scene;
      const nodes = async (by: string): Promise<number> =>
        (await http({ machine, token: by }, 'GET', '/v1/nodes')).status;
      same(
        'without a token, with a wrong one, with the admin’s',
        [await nodes(''), await nodes('0'.repeat(64)), await nodes(token)],
        [401, 401, 200],
      );
      const volume = join(composition.engine.volumes, `${composition.project}_config`, '_data');
      const ca = readFileSync(join(volume, 'tls', 'ca.pem'), 'utf8');
      const seen: string[] = [];
      for (const address of [addresses.management, addresses.backend]) {
        const plain = await machine.on('station', process.execPath, ['--input-type=module', '-'], stranger(address));
        holds(`NATS at ${address} without TLS says: ${plain}`, plain === 'TLS is required');
        const encrypted = await machine.on(
          'station',
          process.execPath,
          ['--input-type=module', '-'],
          stranger(address, ca),
        );
        holds(`NATS at ${address} says: ${encrypted}`, /^TLSv1\.3 -ERR 'Authorization Violation'$/.test(encrypted));
        seen.push(encrypted);
      }
      const workers = await composition.cli(token, ['workers']);
      holds(`workers: ${workers.stderr}`, workers.exitCode === 0);
      for (const worker of ['provisioner', 'fencer'].map((service) => `${service}-${settings.MUSTER_HOST}`))
        holds(`no ${worker}: ${workers.stdout}`, workers.stdout.includes(worker));
      return `${[...new Set(seen)].join(', ')}; its workers answer`;
    },
  },
];

/** Throws where a container of it is root, or may do or write what it must not. */
export async function isContained(composition: Composition, service: Service): Promise<void> {
  const { Config, HostConfig: host } = await composition.inspect(service);
  same(`${service}: limits`, [host.Memory > 0, host.PidsLimit > 0], [true, true]);
  same(`${service}: set up`, [host.Privileged, host.ReadonlyRootfs, host.CapDrop], [false, true, ['ALL']]);
  same(`${service}: restarts`, host.RestartPolicy.Name, 'unless-stopped');
  same(`${service}: user`, Config.User, '10001:10001');
  const write = 'for d in / /usr/bin /opt /etc/muster; do (: > $d/muster-was-here) 2> /dev/null && echo wrote $d; done';
  const { stdout } = await composition.exec(service, 'sh', '-c', `cat /proc/1/status; ${write}`);
  const line = (name: string): string => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(stdout)?.[1] ?? '';
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
  same(`${service}: can write`, stdout.match(/^wrote .*$/gm), null);
  // The image of NATS is not ours.
  if (service === 'nats') return;
  const builders = await composition.exec(
    service,
    'sh',
    '-c',
    'for p in cc gcc g++ make npm npx; do command -v $p; done',
  );
  same(`${service}: what builds`, builders.stdout, '');
}

export async function seesItsOwn(composition: Composition, service: Service): Promise<void> {
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

/** Tells what NATS says to somebody without credentials: in plain, or with TLS where there is a CA. */
const stranger = (address: string, ca?: string): string => `
import { connect } from 'node:net';
import { connect as secure } from 'node:tls';
const [host, ca] = ${JSON.stringify([address, ca ?? null])};
const raw = connect({ host, port: 4222, timeout: 15000 });
const speak = (socket, how) => {
  let said = '';
  socket.setEncoding('utf8').on('data', (more) => (said += more));
  socket.write('CONNECT {"verbose":false,"pedantic":false}\\r\\nPING\\r\\n');
  socket.on('error', (e) => (said += \`-ERR \${e.message}\\r\\n\`));
  raw.on('timeout', () => raw.destroy());
  socket.on('close', () => {
    const words = said.split('\\r\\n').filter((line) => line.startsWith('-ERR') || line === 'PONG');
    console.log([how, ...words].join(' ').trim());
  });
};
// The server speaks first, in plain: its INFO. To who then does not begin with TLS it says nothing more.
raw.once('data', (info) => {
  if (ca === null) return speak(raw, info.includes('"tls_required":true') ? 'TLS is required' : 'TLS is not required');
  const socket = secure({ socket: raw, ca, host });
  socket.once('error', (e) => console.log(e.message));
  socket.once('secureConnect', () => (socket.removeAllListeners('error'), speak(socket, socket.getProtocol())));
});
`;
