import type { Command } from 'commander';
import { resolve } from 'node:path';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { onFiles } from '../failure/on-files.js';
import { goneHosts } from '../hosts/gone-hosts.js';

interface InitOptions {
  cluster: string;
  natsListen: string;
  natsStore?: string;
  hosts?: string;
  at?: string;
  agent: string[];
  host: string[];
  plain?: true;
  separateServices?: true;
}

const LISTEN = '127.0.0.1:4222';
/** Of NATS's monitor, on loopback: a composition's health check asks it. */
const MONITOR_PORT = 8222;

const NO_SERVER =
  'no nats-server is installed here: nats.conf is written for 2.9; for 2.10 and newer add "sync_interval: always" to jetstream';
const KEPT =
  'users only: nats.conf, muster.yaml and keys are kept as they are; a running NATS server lets new agents in at once';

const SEPARATED =
  'services have NATS accounts and users of their own now, and their former users are worthless once NATS is started anew: stop the services, start NATS anew, start the services';
const SHARED =
  'services share one NATS account with the records: "muster init" with --separate-services gives them their own (docs/security.md)';

const UNREAD_REVOCATIONS =
  'which agents were revoked is not to be read here, where no NATS has its store: a server that starts with these files lets them in until inventory has refused them again, within a minute of its start';

export function initCommand(program: Command): void {
  examples(
    does(
      program
        .command('init <dir>')
        .description(
          'write what a new cluster needs: NATS users and their permissions, keys, configuration; later: add agents',
        )
        .option('--cluster <name>', 'name of the cluster', 'muster')
        .option('--nats-listen <addresses>', 'host:port of the NATS server, several separated by commas', LISTEN)
        .option(
          '--nats-store <folder>',
          'where NATS keeps its streams; by default nats in <dir>, with --hosts /var/lib/muster/nats',
        )
        .option(
          '--hosts <list>',
          'control hosts, one, three or five: NAME=ADDRESS+BACKEND, separated by commas; +BACKEND where there is such a network',
        )
        .option('--at <folder>', 'with --hosts: where its files will be on each of them; by default /etc/muster')
        .option(
          '--host <name>',
          'one more name or address under which NATS is reached, for its certificate; may be repeated',
          (name, all: string[]) => [...all, name],
          [],
        )
        .option('--plain', 'no TLS for NATS, also where other machines reach it')
        .option(
          '--separate-services',
          'on a folder of an earlier Muster: NATS accounts of their own for the services; NATS has to be started anew',
        )
        .option(
          '--agent <node>',
          'a node whose agent gets credentials; may be repeated',
          (n, all: string[]) => [...all, n],
          [],
        ),
      init,
    ),
    'init /etc/muster --cluster prod --nats-listen 10.0.0.1:4222 --agent host1-SN1 --agent host2-SN2',
    'init /etc/muster --nats-listen 0.0.0.0:4222 --host muster.example',
    'init /etc/muster --nats-store /var/lib/muster/nats    # for services under systemd',
    'init /etc/muster --agent host3-SN3      # one more: all else stays as it is',
    'init /etc/muster --separate-services    # once, after an upgrade: a new folder has it',
    'init prod --hosts ctl1=10.0.0.1,ctl2=10.0.0.2,ctl3=10.0.0.3    # prod/hosts/ctl1 is for /etc/muster of ctl1',
    'init prod --hosts ctl1=10.0.0.1+10.1.0.1,ctl2=10.0.0.2+10.1.0.2,ctl3=10.0.0.3+10.1.0.3',
  );
}

async function init(run: Run, dir: string, o: InitOptions): Promise<void> {
  if (o.at !== undefined && o.hosts === undefined) throw new Failure('--at goes with --hosts');
  await onFiles(() => (o.hosts === undefined ? initOne(run, dir, o) : initSeveral(run, dir, o, o.hosts)));
}

async function initSeveral({ terminal }: Run, dir: string, o: InitOptions, list: string): Promise<void> {
  const given = [
    [o.natsListen !== LISTEN, '--nats-listen'],
    [o.host.length > 0, '--host'],
    [o.plain === true, '--plain'],
  ] as const;
  const odd = given.find(([is]) => is)?.[1];
  if (odd !== undefined) throw new Failure(`${odd} does not go with --hosts: each host listens on its own addresses`);
  const { hasSeparateServices, initHosts, isCluster, parseControlHosts, separateServices, writtenHosts } =
    await import('#bus');
  const { newAdminToken } = await import('../hosts/admin-token.js');
  const { hostFiles } = await import('../hosts/host-files.js');
  const hosts = parseControlHosts(list);
  const isNew = !isCluster(dir);
  const { token, file } = newAdminToken([]);
  const place = { dir: resolve(o.at ?? '/etc/muster'), store: resolve(o.natsStore ?? '/var/lib/muster/nats') };
  const version = await versionHere(hosts.length === 1 ? terminal : undefined);
  if (!isNew && o.separateServices === true && (await separateServices(dir))) terminal.note(`muster: ${SEPARATED}`);
  const { readsRevocations } = await initHosts(dir, {
    cluster: o.cluster,
    agents: o.agent,
    hosts,
    place: () => place,
    monitor: MONITOR_PORT,
    config: { http: { listen: '127.0.0.1:9007', tokens: 'tokens.json' } },
    first: { 'tokens.json': file },
    also: (host) => hostFiles(host, hosts, place),
    ...(version !== undefined && { natsVersion: version }),
  });
  if (isNew) {
    terminal.line(token);
    terminal.note('muster: the admin token stands alone on stdout: keep it, it is not shown again');
  }
  for (const { name } of hosts)
    terminal.note(
      `muster: ${resolve(dir, 'hosts', name)} is for ${place.dir} of ${name}, readable by its services alone`,
    );
  if (!hasSeparateServices(dir)) terminal.note(`muster: ${SHARED}`);
  const { gone } = writtenHosts(dir);
  if (gone.length > 0) terminal.note(`muster: ${goneHosts(resolve(dir), gone)}`);
  if (!isNew && !readsRevocations) terminal.note(`muster: ${UNREAD_REVOCATIONS}`);
  terminal.note(`muster: ${resolve(dir)} itself holds the keys of all: keep it where only you can read it`);
}

/** Of the nats-server here; without one, what that means is told, where somebody is to hear it. */
async function versionHere(terminal: Run['terminal'] | undefined): Promise<string | undefined> {
  const { natsServerVersion } = await import('#bus/init/nats-version.js');
  const version = natsServerVersion();
  if (version === undefined) terminal?.note(`muster: ${NO_SERVER}`);
  return version;
}

async function initOne({ terminal }: Run, dir: string, o: InitOptions): Promise<void> {
  // Loaded only here: every other command speaks HTTP and starts faster without it.
  const {
    addAgentUsers,
    configuredStore,
    hasSeparateServices,
    initCluster,
    isCluster,
    separateServices,
    storeRoomWarning,
  } = await import('#bus');
  const exists = isCluster(dir);
  const storeDir = resolve((exists ? configuredStore(dir) : o.natsStore) ?? resolve(dir, 'nats'));
  if (exists && o.natsStore !== undefined)
    throw new Failure(
      `${dir} exists: where NATS keeps its streams is store_dir in nats.conf, and moves as docs/store.md says`,
    );
  if (exists && (o.host.length > 0 || o.plain === true))
    throw new Failure(`${dir} exists: the certificate of its NATS is a matter of "muster tls"`);
  if (exists) {
    if (o.separateServices === true && (await separateServices(dir))) terminal.note(`muster: ${SEPARATED}`);
    await addAgentUsers(dir, o.agent);
    if (!hasSeparateServices(dir)) terminal.note(`muster: ${SHARED}`);
  } else {
    const natsVersion = await versionHere(terminal);
    await initCluster(dir, {
      cluster: o.cluster,
      agents: o.agent,
      natsListen: o.natsListen.split(','),
      storeDir,
      hosts: o.host,
      ...(o.plain === true && { plain: true }),
      ...(natsVersion !== undefined && { natsVersion }),
    });
  }
  const room = storeRoomWarning(storeDir);
  if (room !== undefined) terminal.note(`muster: ${room}`);
  terminal.line(`written: ${resolve(dir)}`);
  if (exists) terminal.note(`muster: ${KEPT}`);
}
