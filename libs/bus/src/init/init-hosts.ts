import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Document, parseDocument } from 'yaml';
import { atPort, MusterError } from '#contracts';
import { systemClock } from '../system/system-clock.js';
import { issueServerCertificate, pinOf, type Certificate } from './certificates.js';
import { checkControlHosts, hostFolder, hostsFile, type ControlHost } from './control-hosts.js';
import {
  accountsIn,
  accountsText,
  configuredAccountsDir,
  ensureKeysAndUsers,
  isCluster,
  newConfig,
  readsRevocations,
  refusePlainUsers,
  type InitOptions,
} from './init-cluster.js';
import { listenAddress, natsConfig } from './nats-config.js';
import { writeAllPrivately, type Content } from './private-files.js';
import { filesIn, shownFiles } from './shown-files.js';
import { authorityOf, isDue, keyBeside, presentCertificate, readAuthority, tlsFiles } from './tls-files.js';

const NATS_PORT = 4222;
const ROUTE_PORT = 6222;
/** NATS's name on a composition's own network. */
const NATS_IN_COMPOSITION = 'nats';

/** Where a control host has what is written for it. */
export interface HostPlace {
  /** The folder, once it is on that host. */
  dir: string;
  /** NATS's store there. */
  store: string;
}

export interface HostsOptions extends Pick<InitOptions, 'cluster' | 'agents' | 'config' | 'monitor' | 'natsVersion'> {
  /** One, three or five; one is a single server. */
  hosts: readonly ControlHost[];
  /** @default `/etc/muster`, `/var/lib/muster/nats` */
  place?: (host: ControlHost) => HostPlace;
  /** More files of a new installation, by path: each control host gets those that its services need. @default none */
  first?: Readonly<Record<string, string>>;
  /** More files for a control host, by path. @default none */
  also?: (host: ControlHost) => Record<string, string>;
}

export interface WrittenHosts {
  /**
   * What NATS was told of revoked users is here to be read. Where it is not, a server that starts with these files lets
   * them in until inventory has told it again.
   */
  readsRevocations: boolean;
}

const OnHost: HostPlace = { dir: '/etc/muster', store: '/var/lib/muster/nats' };

/** Copies of each record: as many as there are servers. */
const replicasOf = (hosts: readonly ControlHost[]): number => hosts.length;

/**
 * Writes into `dir` what a cluster of several control hosts rests on (keys, users, CA, `muster.yaml` for all) and into
 * `dir/hosts/NAME` what is to lie on each of them: nats.conf with routes to the others, users and keys of its services,
 * its certificate, its `muster.yaml`. Only there are no key of the CA and no operator's key. Again on a folder that is
 * one: keys, CA, users, tokens and all else that `muster.yaml` says are kept; it may have had another number of hosts.
 *
 * Nothing is left of it where it fails in a new folder; in one that was there the files of the hosts are as before.
 * @throws MusterError CONFIG_INVALID names what is wrong
 */
export async function initHosts(dir: string, o: HostsOptions): Promise<WrittenHosts> {
  checkControlHosts(o.hosts);
  refusePlainUsers(dir);
  const isNew = !isCluster(dir);
  const wasThere = existsSync(dir);
  if (isNew && wasThere && readdirSync(dir).length > 0)
    throw new MusterError('CONFIG_INVALID', `${dir} holds files, and was not made by muster init: name a new folder`);
  if (!isNew && authorityOf(dir) === undefined)
    throw new MusterError(
      'CONFIG_INVALID',
      `the NATS of ${dir} speaks without TLS, which servers of a cluster need: run "muster tls enable --dir ${dir}" first`,
    );
  const place = o.place ?? (() => OnHost);
  try {
    const config = configFor(dir, o);
    const had = configuredAccountsDir(dir);
    const own = o.hosts.map((h) => accountsIn(place(h).store));
    const alsoTold = had === undefined ? own : [had, ...own];
    const first = isNew ? Object.entries(o.first ?? {}) : [];
    await ensureKeysAndUsers(dir, o, alsoTold[0] as string);
    const files = new Map<string, Content>([
      [join(dir, 'muster.yaml'), config.toString()],
      [hostsFile(dir), `${JSON.stringify(o.hosts.map(({ name }) => name))}\n`],
    ]);
    for (const [path, text] of first) files.set(join(dir, path), text);
    const certificates = await certificatesOf(dir, o.hosts);
    for (const host of o.hosts) {
      const ofHost = await filesOf(dir, o, { host, config, place: place(host), alsoTold, certificates });
      // Of a new installation they are not there yet to be copied.
      for (const [path, text] of [...ofHost, ...first.filter(([path]) => isSeen(path))])
        files.set(join(hostFolder(dir, host.name), path), text);
    }
    writeAllPrivately(files);
    // Of an earlier Muster, or of the single server that this was.
    for (const { name } of o.hosts) rmSync(keyBeside(hostFolder(dir, name)), { force: true });
    return { readsRevocations: readsRevocations(dir, alsoTold) };
  } catch (e) {
    if (isNew && existsSync(dir)) {
      for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true });
      if (!wasThere) rmSync(dir, { recursive: true });
    }
    throw e;
  }
}

const seen = new Set(Object.values(shownFiles).flat());

/** Whether any service of a control host reads it. */
const isSeen = (path: string): boolean => [...seen].some((s) => path === s || path.startsWith(`${s}/`));

/** `muster.yaml` of all of them: what is there is kept, but for where the servers are and what follows from how many. */
function configFor(dir: string, o: HostsOptions): Document {
  const urls = (network: 'management' | 'backend'): string[] =>
    o.hosts.flatMap((h) => (h[network] === undefined ? [] : [`nats://${atPort(h[network], NATS_PORT)}`]));
  const file = join(dir, 'muster.yaml');
  const text = existsSync(file)
    ? readFileSync(file, 'utf8')
    : newConfig(o.cluster, { servers: urls('management') }, o.config);
  const doc = parseDocument(text);
  if (doc.errors.length > 0)
    throw new MusterError('CONFIG_INVALID', `${file} cannot be read: ${doc.errors[0]!.message}`);
  doc.setIn(['nats', 'servers'], urls('management'));
  doc.setIn(['agents', 'nats', 'management'], urls('management'));
  if (urls('backend').length > 0) doc.setIn(['agents', 'nats', 'backend'], urls('backend'));
  else doc.deleteIn(['agents', 'nats', 'backend']);
  doc.set('replicas', replicasOf(o.hosts));
  return doc;
}

/** Path → content, of what lies on a control host. */
async function filesOf(
  dir: string,
  o: HostsOptions,
  of: {
    host: ControlHost;
    config: Document;
    place: HostPlace;
    alsoTold: readonly string[];
    certificates: ReadonlyMap<ControlHost, Certificate>;
  },
): Promise<Map<string, Content>> {
  const { host, place } = of;
  const config = of.config.clone();
  const files = new Map<string, Content>();
  for (const path of seen) for (const file of filesIn(dir, path)) files.set(file, readFileSync(join(dir, file)));
  const on = tlsFiles(place.dir);
  const listen = listenAddress(addressesOf(host).map((address) => atPort(address, NATS_PORT)));
  const others = o.hosts.filter((other) => other !== host);
  files.set(
    'nats.conf',
    natsConfig({
      cluster: clusterOf(config, o),
      natsListen: [listen],
      storeDir: place.store,
      tls: on,
      ...(o.monitor !== undefined && { monitor: o.monitor }),
      ...(o.natsVersion !== undefined && { natsVersion: o.natsVersion }),
      ...(others.length > 0 && {
        member: {
          name: host.name,
          listen: atPort(host.management, ROUTE_PORT),
          routes: others.map((other) => atPort(other.management, ROUTE_PORT)),
          tls: on,
          pins: [...of.certificates.values()].map((c) => pinOf(c.certificate)),
        },
      }),
    }),
  );
  files.set('nats-accounts.conf', await accountsText(dir, accountsIn(place.store), of.alsoTold));
  const { certificate, key } = of.certificates.get(host)!;
  const at = tlsFiles('');
  files.set(at.ca, readAuthority(dir).certificate);
  files.set(at.certificate, certificate);
  files.set(at.key, key);
  config.setIn(['nats', 'listen'], listen);
  config.setIn(['nats', 'store'], place.store);
  files.set('muster.yaml', config.toString());
  for (const [path, text] of Object.entries(o.also?.(host) ?? {})) files.set(path, text);
  return files;
}

const addressesOf = ({ management, backend }: ControlHost): string[] => [
  management,
  ...(backend === undefined ? [] : [backend]),
];

/** The installation's own, where there is one: its CA is called by it. */
function clusterOf(config: Document, o: HostsOptions): string {
  const cluster: unknown = config.get('cluster');
  return typeof cluster === 'string' ? cluster : o.cluster;
}

async function certificatesOf(
  dir: string,
  hosts: readonly ControlHost[],
): Promise<ReadonlyMap<ControlHost, Certificate>> {
  const all = new Map<ControlHost, Certificate>();
  for (const host of hosts) all.set(host, await certificateOf(dir, host));
  return all;
}

/** The one that it has, or where that is due another one for the same key. */
async function certificateOf(dir: string, host: ControlHost): Promise<Certificate> {
  const names = [host.name, ...addressesOf(host), 'localhost', '127.0.0.1', '::1', NATS_IN_COMPOSITION];
  const { certificate, key } = presentCertificate(hostFolder(dir, host.name));
  const now = systemClock.wallMs();
  if (certificate !== undefined && key !== undefined && !isDue(certificate, names, now)) return { certificate, key };
  return issueServerCertificate(readAuthority(dir), names, now, key);
}
