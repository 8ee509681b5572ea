import { issueServerCertificate, newAuthority } from '#bus/init/certificates.js';
import type { StatusView } from '../../../../libs/contracts/src/index.js';
import { until } from '../../../../lab/src/until.js';
import { allHealthy, ask, holds, http, same, seconds, type Asker, type Check, type Scene } from '../check.js';
import { services } from '../composition.js';
import { isContained, seesItsOwn } from '../containment-checks.js';
import { openPorts } from '../open-ports.js';
import type { ControlHosts, Host } from './control-hosts.js';
import { readServer, type Server } from './nats-pages.js';

/** What is documented to be open from outside: docs/compose.md. */
const documented = { management: [4222, 6222], backend: [4222] };

/** A record of each is in three copies within that, also where a server has just come back. */
const SETTLED_MS = 120_000;
/** The gateway waits so long for a write while the servers elect a leader: docs/three-hosts.md. */
const WRITE_MS = 15_000;
/** A lease lasts 14 s on a cluster: its next holder has it within a few seconds of that. */
const LED_MS = 30_000;

const LEASES = ['conductor', 'detector', 'fencer'];

const asker = (controlHosts: ControlHosts, { hardware: machine }: Host): Asker => ({
  machine,
  token: controlHosts.token,
});

/** What is seen when `look` has nothing against it any more. */
async function settled<T>(what: string, limitMs: number, look: () => Promise<T>): Promise<T> {
  const { seen } = await until(what, limitMs, async () => ({ seen: await look() }), 500);
  return seen;
}

/** Of servers that are one cluster, in which each stream has a copy on each of them; throws else. */
async function oneCluster(hosts: readonly Host[]): Promise<readonly Server[]> {
  const servers = await Promise.all(hosts.map(({ composition }) => readServer(composition)));
  const names = hosts.map(({ name }) => name);
  same(
    'servers',
    servers.map(({ name }) => name),
    names,
  );
  for (const { name, routes } of servers)
    same(
      `routes of ${name}`,
      routes,
      names.filter((other) => other !== name),
    );
  same('names of their cluster', [...new Set(servers.map(({ cluster }) => cluster))], ['muster']);
  const [leader, ...more] = new Set(servers.map(({ metaLeader }) => metaLeader));
  holds(`who leads: ${leader}, ${more.join(', ')}`, names.includes(leader ?? '') && more.length === 0);
  const streams = new Set(servers.flatMap((server) => server.streams.map((stream) => stream.name)));
  holds(`${streams.size} streams`, streams.size > 0);
  for (const name of streams) hasCopies(name, servers);
  return servers;
}

function hasCopies(name: string, servers: readonly Server[]): void {
  const seen = servers.flatMap((server) =>
    server.streams.filter((stream) => stream.name === name).map((stream) => ({ server: server.name, ...stream })),
  );
  same(
    `${name}: copies`,
    seen.map(({ server, replicas }) => [server, replicas]),
    servers.map((server) => [server.name, servers.length]),
  );
  const led = seen.filter(({ server, leader }) => server === leader);
  same(`${name}: servers that lead it`, led.length, 1);
  same(
    `${name}: copies that are current`,
    led.flatMap(({ others }) => others.filter(({ isCurrent }) => isCurrent)).length,
    servers.length - 1,
  );
}

/** Who holds each lease, as all of these hosts say; throws where they differ, or one is held by nobody, or by an instance on another host. */
async function oneLeader(controlHosts: ControlHosts, hosts: readonly Host[]): Promise<string> {
  const told = await Promise.all(
    hosts.map(async (host) => {
      const { leases } = await ask<StatusView>(asker(controlHosts, host), 'GET', '/v1/status');
      return LEASES.map((name) =>
        leases.filter((lease) => lease.name === name).map(({ holder }) => holder ?? 'nobody'),
      );
    }),
  );
  const [first = [], ...others] = told;
  for (const other of others) same('leases', other, first);
  const names = hosts.map(({ name }) => name);
  for (const [i, holders] of first.entries())
    holds(
      `${LEASES[i]} is led by ${holders.join(', ')}`,
      holders.length === 1 && names.some((name) => holders[0]?.endsWith(`-${name}`) === true),
    );
  return first.flat().join(', ');
}

/** Registers a node at a host's gateway, one after the other until one of them is accepted. */
async function register(scene: Scene, host: Host): Promise<{ node: string; tries: number; ms: number }> {
  const since = performance.now();
  for (let tries = 1; ; tries++) {
    const label = `${host.name}-peer${tries}`;
    const { status, text } = await http(asker(scene.controlHosts, host), 'POST', '/v1/nodes', {
      label,
      serial: 'S1',
      networks: { management: { address: `10.0.0.${100 + 10 * Number(host.name.slice(-1)) + tries}` } },
    });
    const ms = performance.now() - since;
    if (status >= 200 && status <= 299) return { node: `${label}-S1`, tries, ms };
    holds(`${host.name} still refuses after ${(ms / 1000).toFixed(1)} s: ${status} ${text}`, ms < WRITE_MS);
  }
}

/** The one whose server leads what is written most: its loss costs the most. */
async function theLeader({ hosts }: ControlHosts): Promise<{ lost: Host; left: readonly Host[] }> {
  const servers = await oneCluster(hosts);
  const nodes = servers.flatMap(({ streams }) => streams).find(({ name }) => name.endsWith(' KV_nodes'));
  const lost = hosts.find(({ name }) => name === nodes?.leader);
  if (lost === undefined) throw new Error(`nobody leads the bucket of nodes: ${JSON.stringify(nodes)}`);
  return { lost, left: hosts.filter((host) => host !== lost) };
}

/** Three control hosts with a composition each, as docs/install.md sets them up. They follow on each other. */
export const hostsChecks: readonly Check[] = [
  {
    name: 'hosts-up',
    needs: [],
    title:
      'three control hosts: the commands of docs/install.md end well on each, on the first before there is another, and all is healthy',
    async run({ composition, demo, controlHosts }) {
      await composition.downAll();
      await demo.downAll();
      await controlHosts.make(composition.engine);
      const since = performance.now();
      const times: string[] = [];
      for (const host of controlHosts.hosts) {
        const began = performance.now();
        await controlHosts.up(host);
        times.push(`${host.name} ${seconds(began)}`);
      }
      await Promise.all(controlHosts.hosts.map((host) => allHealthy(host.composition)));
      return `${times.join(', ')}; all healthy ${seconds(since)} after the first command`;
    },
  },
  {
    name: 'hosts-cluster',
    needs: ['hosts-up'],
    title: 'their NATS is one cluster, each stream has three copies, and each host tells the same status',
    async run({ controlHosts }) {
      const { hosts } = controlHosts;
      const servers = await settled('one cluster', SETTLED_MS, () => oneCluster(hosts));
      const led = await settled('one leader', LED_MS, () => oneLeader(controlHosts, hosts));
      // As docs/install.md does on one machine: until then a status tells that nothing is powered off.
      const enforced = await controlHosts.on(hosts[0]!, 'fencing', 'set', 'enforce');
      same(`fencing set enforce: ${enforced.stderr}`, enforced.exitCode, 0);
      for (const host of hosts) await settled('a status that is well', SETTLED_MS, () => isWell(controlHosts, host));
      const [{ version, metaLeader, streams } = { version: '', metaLeader: '', streams: [] }] = servers;
      return `nats-server ${version}, led by ${metaLeader}; ${streams.length} streams, three copies each; leases: ${led}`;
    },
  },
  {
    name: 'hosts-contained',
    needs: ['hosts-up'],
    title:
      'no container of theirs is root or can write its root, each sees its own keys, and no port is open but theirs',
    async run({ controlHosts: { hosts, network } }) {
      for (const { composition } of hosts) {
        await Promise.all(services.map((service) => isContained(composition, service)));
        await Promise.all(services.map((service) => seesItsOwn(composition, service)));
      }
      const [{ hardware } = hosts[0]!] = hosts;
      const found = {
        management: await openPorts(network.enter, hardware.host.management),
        backend: await openPorts(network.enter, hardware.host.backend ?? ''),
      };
      same('open', found, documented);
      return `${hosts.length} × ${services.length} containers; ${JSON.stringify(found)}`;
    },
  },
  {
    name: 'host-lost',
    needs: ['hosts-cluster'],
    title:
      'one whole host is lost: each of the other two accepts a write in the time of the page, and they have one leader',
    async run(scene) {
      const { controlHosts } = scene;
      const { lost, left } = await theLeader(controlHosts);
      const since = performance.now();
      await lost.hardware.cutPower();
      const written = await Promise.all(left.map((host) => register(scene, host)));
      const led = await settled('one leader', LED_MS, () => oneLeader(controlHosts, left));
      const took = seconds(since);
      const accepted = written.map(({ node, tries, ms }) => `${node} after ${(ms / 1000).toFixed(1)} s (try ${tries})`);
      return `without ${lost.name}: ${accepted.join(', ')}; led after ${took} by ${led}`;
    },
  },
  {
    name: 'host-back',
    needs: ['host-lost'],
    title: 'it has power again: all of it is healthy, has every record, and muster doctor finds nothing broken',
    async run(scene) {
      const { controlHosts } = scene;
      const { hosts } = controlHosts;
      const back = hosts.find(({ hardware }) => !hardware.isOn);
      if (back === undefined) throw new Error('no host is off');
      const since = performance.now();
      await back.hardware.powerOn();
      await allHealthy(back.composition);
      const healthy = seconds(since);
      await settled('one cluster', SETTLED_MS, () => oneCluster(hosts));
      const whole = seconds(since);
      const lists = await Promise.all(
        hosts.map(async (host) => {
          const { items } = await ask<{ items: { name: string }[] }>(asker(controlHosts, host), 'GET', '/v1/nodes');
          return items.map(({ name }) => name).sort();
        }),
      );
      holds(`nodes: ${JSON.stringify(lists)}`, lists[0]!.length >= 2);
      for (const list of lists) same('nodes', list, lists[0]);
      for (const name of lists[0]!) await ask(asker(controlHosts, back), 'DELETE', `/v1/nodes/${name}`);
      const findings = await settled('nothing broken', SETTLED_MS, () => wellOn(controlHosts, back));
      return `${back.name} healthy after ${healthy}, all copies current after ${whole}; doctor: ${findings}`;
    },
  },
  {
    name: 'hosts-outside',
    needs: ['hosts-up'],
    title:
      'with a certificate each, their gateways are asked from elsewhere, all three of them or any one, by TLS alone',
    async run({ controlHosts }) {
      const { hosts } = controlHosts;
      const at = ({ hardware }: Host): string => `${hardware.host.management}:9007`;
      const authority = await newAuthority('people', Date.now());
      await controlHosts.change((settings) => {
        settings.setIn(['http', 'listen'], '0.0.0.0:9007');
        settings.setIn(['http', 'tls'], { certificate: 'http/server.pem', key: 'http-key/server.key' });
      });
      for (const host of hosts) {
        const { hardware, composition } = host;
        const own = await issueServerCertificate(authority, [host.name, hardware.host.management], Date.now());
        hardware.write('http/server.pem', own.certificate);
        hardware.write('http-key/server.key', own.key);
        await hardware.run('chown', ['-R', '10001:10001', '/etc/muster']);
        await composition.done('run', '--rm', '-T', 'init');
        const published = await composition.run(['up', '-d'], { env: { MUSTER_HTTP: at(host) } });
        holds(`up on ${host.name}: ${published.stderr}`, published.exitCode === 0);
        await composition.done('restart', ...services.filter((service) => service !== 'nats'));
        await allHealthy(composition);
      }
      const ca = controlHosts.file('people.pem', authority.certificate);
      const asked = [hosts, ...hosts.map((host) => [host])];
      for (const some of asked) {
        const urls = some.map((host) => `https://${at(host)}`).join(',');
        const look = async (): Promise<void> => {
          const { exitCode, stdout, stderr } = await controlHosts.outside(
            { MUSTER_URL: urls, MUSTER_CA: ca },
            'status',
          );
          same(`status by ${urls}: ${stdout} ${stderr}`, exitCode, 0);
        };
        await settled(`a status by ${urls}`, SETTLED_MS, look);
      }
      const plain = await controlHosts.outside({ MUSTER_URL: `http://${at(hosts[0]!)}`, MUSTER_INSECURE_HTTP: 'true' }, 'status'); // prettier-ignore
      holds(`without TLS it says: ${plain.stdout}`, plain.exitCode === 1 && plain.stdout === '');
      return `${asked.length} ways; without TLS: ${plain.stderr.trim()}`;
    },
  },
];

/** That `muster status` says so, in a container of a host and as an operator on it. */
async function isWell(controlHosts: ControlHosts, host: Host): Promise<void> {
  const inside = await host.composition.cli(controlHosts.token, ['status']);
  same(`status in a container of ${host.name}: ${inside.stdout} ${inside.stderr}`, inside.exitCode, 0);
  const outside = await controlHosts.on(host, 'status');
  same(`status on ${host.name}: ${outside.stdout} ${outside.stderr}`, outside.exitCode, 0);
}

/** What `muster doctor` finds on a host where nothing is broken, as root there; throws else. */
async function wellOn(controlHosts: ControlHosts, host: Host): Promise<string> {
  const { stdout, stderr } = await controlHosts.on(host, 'doctor', '--json');
  holds(`doctor: ${stderr}`, stdout !== '');
  const { findings } = JSON.parse(stdout) as {
    findings: { check: string; subject: string; state: string; text: string }[];
  };
  const wrong = findings.filter(({ state }) => !['ok', 'skipped'].includes(state));
  same('doctor', wrong, []);
  return `${findings.length} lines`;
}
