import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execaSync } from 'execa';
import {
  addAgentUsers,
  initCluster,
  isCluster,
  moveKeyApart,
  renewServerCertificate,
  separateServices,
  storeRoomWarning,
} from '#bus';
import { privateFolder, writePrivately } from '#bus/init/private-files.js';
import { isDue, presentCertificate, tlsFiles } from '#bus/init/tls-files.js';
import { MusterError } from '#contracts';
import { loadConfig } from '#service';
import { newAdminToken, type TokenEntry } from '../hosts/admin-token.js';
import { HOST_ENV } from '../hosts/host-files.js';
import { demoNodes, demoTokenFile } from './demo-files.js';
import { showFiles } from './show-files.js';

/** Oldest nats-server that a composition is for: an older one refuses `sync_interval: always`. */
const NATS_VERSION = '2.10.23';
/** Inside its container; docker-compose.yml publishes it. */
const NATS_LISTEN = '0.0.0.0:4222';
const NATS_MONITOR_PORT = 8222;

export interface InstallationPlaces {
  /** The installation's folder. */
  dir: string;
  /** NATS's store, at the path where NATS has it. */
  store: string;
  /** A folder for each container. */
  shown: string;
}

export interface InstallationOptions extends InstallationPlaces {
  cluster: string;
  /** Network → `host:port` at which agents reach NATS. */
  agentsReach: Record<string, string>;
  /** Names and addresses under which NATS is reached, for its certificate. */
  hosts: string[];
  /** For docker-compose.yml's profile `demo`: with users for its hosts' agents, and a token for its lab. @default false */
  demo?: boolean;
}

/** What a command has to say: `result` for stdout alone, `notes` for people. */
export interface Output {
  result?: string;
  notes: string[];
}

/**
 * Keys, users, tokens and configuration of a new installation, and for each container what it sees of that. Where there
 * is one already all of it is kept. The admin token is told in this answer and nowhere else.
 * @throws MusterError CONFIG_INVALID for a demo where there is an installation that was not made for it: its lab has a
 * token with which it may do anything
 */
export async function install(o: InstallationOptions): Promise<Output> {
  const isThere = existsSync(tokensFile(o.dir)) || isOneOfSeveral(o.dir);
  if (o.demo === true && isThere && !existsSync(demoTokenFile(o.dir)))
    throw new MusterError(
      'CONFIG_INVALID',
      'there is an installation already, which was not made for the demo: give the demo a project of its own, as deploy/docker/demo.env does',
    );
  if (existsSync(tokensFile(o.dir))) {
    const notes = [`${o.dir} is an installation already: keys, users and muster.yaml are kept, and no token is shown`];
    return { notes: [...notes, ...shown(o)] };
  }
  if (isOneOfSeveral(o.dir))
    return { notes: [`${o.dir} is one of several control hosts: its files are kept`, ...shown(o)] };
  // A run that was ended early is carried on: what is there is kept, and the tokens come last.
  await initCluster(o.dir, {
    cluster: o.cluster,
    agents: o.demo === true ? [...demoNodes] : [],
    natsListen: [NATS_LISTEN],
    hosts: o.hosts,
    storeDir: o.store,
    monitor: NATS_MONITOR_PORT,
    natsVersion: NATS_VERSION,
    config: {
      http: { listen: '127.0.0.1:9007', tokens: 'tokens.json' },
      agents: {
        nats: Object.fromEntries(Object.entries(o.agentsReach).map(([network, at]) => [network, [`nats://${at}`]])),
      },
      ansible: { user: 'root', privateKey: 'ssh/id_ed25519' },
    },
  });
  makeFolders(o.dir);
  const key = makeSshKey(join(o.dir, 'ssh', 'id_ed25519'), o.cluster);
  const room = storeRoomWarning(o.store);
  const result = writeAdminToken(o.dir, o.demo === true ? [writeDemoToken(o.dir)] : []);
  showFiles(o.dir, o.shown);
  return {
    result,
    notes: [
      ...(room === undefined ? [] : [room]),
      `the admin token stands alone on stdout: keep it, it is not shown again; what nodes let in (authorized_keys): ${key}`,
      `next: docker compose ${o.demo === true ? '--env-file deploy/docker/demo.env --profile demo up' : 'up -d'}`,
    ],
  };
}

/** Another admin token in place of the one of {@link install}: that one is worthless from the gateway's next start on. */
export function renewAdminToken(o: InstallationPlaces): Output {
  requireInstallation(o.dir);
  const result = writeAdminToken(o.dir);
  return { result, notes: shown(o) };
}

/**
 * The services' users with the accounts and permissions of this version of Muster, and a certificate of NATS that lasts:
 * after an upgrade, before the certificate ends, and where the machine has another address; before a restart.
 */
export async function renewUsers(o: InstallationPlaces & Pick<InstallationOptions, 'hosts'>): Promise<Output> {
  requireInstallation(o.dir);
  if (!(await separateServices(o.dir))) await addAgentUsers(o.dir, []);
  return { notes: [...(await renewCertificate(o)), ...shown(o)] };
}

async function renewCertificate({ dir, hosts }: Pick<InstallationOptions, 'dir' | 'hosts'>): Promise<string[]> {
  const { certificate } = presentCertificate(dir);
  // One of an earlier Muster speaks without TLS.
  if (certificate === undefined || !isDue(certificate, hosts, Date.now())) return [];
  const { caKey } = tlsFiles(dir);
  if (!existsSync(caKey))
    return [
      `the certificate of NATS ends, or lacks ${hosts.join(', ')}: put ${caKey} back for that, or muster tls renew where it is`,
    ];
  const { names, endsAt } = await renewServerCertificate(dir, hosts);
  return [`NATS has a certificate until ${new Date(endsAt).toISOString().slice(0, 10)}, for ${names.join(', ')}`];
}

/** Takes another muster.yaml. @throws MusterError CONFIG_INVALID, and then the one that is there stays */
export function configure(o: InstallationPlaces, yaml: string): Output {
  requireInstallation(o.dir);
  const aside = join(o.dir, 'muster.yaml.new');
  writeFileSync(aside, yaml, { mode: 0o600 });
  try {
    loadConfig('inventory', { MUSTER_CONFIG: aside });
  } catch (e) {
    rmSync(aside);
    throw e;
  }
  renameSync(aside, join(o.dir, 'muster.yaml'));
  return { notes: shown(o) };
}

export const configuration = (o: InstallationPlaces): Output => {
  if (!isOneOfSeveral(o.dir)) requireInstallation(o.dir);
  return { result: readFileSync(join(o.dir, 'muster.yaml'), 'utf8').trimEnd(), notes: [] };
};

const tokensFile = (dir: string): string => join(dir, 'tokens.json');

/** Its keys, users and settings are made elsewhere, for all of them. */
const isOneOfSeveral = (dir: string): boolean => existsSync(join(dir, HOST_ENV));

function requireInstallation(dir: string): void {
  if (isOneOfSeveral(dir))
    throw new MusterError(
      'CONFIG_INVALID',
      'this is one of several control hosts: change it in the folder where muster init --hosts was said, say that again, copy the folder of each host anew, and go on as docs/three-hosts.md says under "In containers"',
    );
  if (!isCluster(dir))
    throw new MusterError('CONFIG_INVALID', 'there is no installation yet: docker compose run --rm init');
}

/** @returns the token, of which the file holds the hash alone */
function writeAdminToken(dir: string, more: readonly TokenEntry[] = []): string {
  const file = tokensFile(dir);
  const others = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as TokenEntry[]) : more;
  const made = newAdminToken(others);
  writePrivately(file, made.file);
  return made.token;
}

/** The token stands in its file, for the demo's lab alone. @returns its entry, which holds the hash */
function writeDemoToken(dir: string): TokenEntry {
  const { token, entries } = newAdminToken([], 'demo');
  const file = demoTokenFile(dir);
  privateFolder(dirname(file));
  writePrivately(file, token);
  return entries[0]!;
}

/** @returns its public half */
function makeSshKey(file: string, cluster: string): string {
  if (!existsSync(file))
    execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', `muster-${cluster}`, '-f', file]);
  return readFileSync(`${file}.pub`, 'utf8').trim();
}

/** Also empty: an operator's own are mounted over them, for which there has to be a place in what a container sees. */
function makeFolders(dir: string): void {
  for (const folder of ['ssh', 'services', 'playbooks', 'http', 'http-key']) privateFolder(join(dir, folder));
}

function shown({ dir, shown }: InstallationPlaces): string[] {
  moveKeyApart(dir);
  makeFolders(dir);
  const changed = showFiles(dir, shown);
  if (changed.length === 0) return ['nothing has changed'];
  return [`changed for ${changed.join(', ')}: docker compose restart ${changed.join(' ')}, where they run`];
}
