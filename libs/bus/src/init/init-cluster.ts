import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { decode, fmtCreds, type Account, type User } from '@nats-io/jwt';
import { parse, parseDocument, stringify } from 'yaml';
import { agentUser, MusterError, NAME_PATTERN, NODE_NAME_PATTERN, toolUser } from '#contracts';
import type { BusCredentials } from '../ports/types.js';
import { issueAgentCredentials, readAgentsKey, type AgentsKey } from './agents-key.js';
import {
  accountsConfig,
  issueServiceCredentials,
  issueToolCredentials,
  newAgentsKey,
  newOperatorKeys,
  newOwnAccounts,
  type OperatorKeys,
  type Revocable,
} from './nats-accounts.js';
import { hostFolder, writtenHosts } from './control-hosts.js';
import { listenAddress, natsConfig, withTls, type NatsConfigOptions } from './nats-config.js';
import { keyPair, publicKeyOf } from '#contracts/keys/nkey.js';
import { ApartServices, userKinds, type ToolRole } from '../users/permissions.js';
import { FOR_GOOD } from './revocation.js';
import { privateFolder, writePrivately } from './private-files.js';
import { diskOf, maxFileStore } from './store-limits.js';
import { newRevokerKey, readRevokerKey, type RevokerKey } from './revoker-key.js';
import {
  authorityOf,
  certificateNames,
  checkCertificateName,
  ensureAuthority,
  ensureServerCertificate,
  isOwnMachineOnly,
  moveKeyApart,
  ownNames,
  tlsFiles,
} from './tls-files.js';

export interface InitOptions extends Omit<NatsConfigOptions, 'storeDir' | 'tls'> {
  /** Nodes whose agents get a user; more by {@link addAgentUsers}. */
  agents: string[];
  /** Where the server keeps streams and buckets. */
  storeDir: string;
  /** More names and addresses under which this NATS server is reached: its certificate names them. */
  hosts?: string[];
  /**
   * True: without TLS also where other machines reach the server. False: with TLS also where only its own machine does.
   * @default TLS where other machines reach the server; not where they did so without it before, as in a folder of an
   * earlier Muster: agents that hold no CA would be locked out
   */
  plain?: boolean;
  /** More for a new `muster.yaml`: `ansible`, `http`, `initial` … */
  config?: Record<string, unknown>;
}

/**
 * Writes everything a cluster needs before its first start into `dir`: `nats.conf` and `nats-accounts.conf`,
 * `creds/<service>.json`, `creds/tools.creds`, `creds/agent=<node>.json`, `keys/`, `tls/`, `tls-key/`, `muster.yaml`, all of mode 600. It may run again, while
 * nats-server does not run: keys, agents' users and a `muster.yaml` that exist are kept, but for where NATS listens,
 * which stands in `nats.conf` and `muster.yaml` as told last; services' users keep their keys, and may do what this
 * version of Muster needs. CONFIG_INVALID names what is wrong.
 */
export async function initCluster(dir: string, o: InitOptions): Promise<void> {
  if (!NAME_PATTERN.test(o.cluster)) throw new MusterError('CONFIG_INVALID', `"${o.cluster}" cannot name a cluster`);
  // First, so that a wrong option leaves nothing behind.
  listenAddress(o.natsListen);
  o.agents.forEach(checkNode);
  o.hosts?.forEach(checkCertificateName);
  const encrypted = wantsTls(dir, o);
  const keys = ensureKeys(dir);
  await separateServices(dir, accountsIn(o.storeDir));
  adoptStore(dir, o.storeDir, keys.account);
  if (encrypted) {
    await ensureAuthority(dir, o.cluster);
    moveKeyApart(dir);
    await ensureServerCertificate(dir, certificateNames(o.natsListen, o.hosts ?? [], ownNames()));
  }
  await writeUsers(dir, o.agents, accountsIn(o.storeDir));
  writePrivately(
    join(dir, 'nats.conf'),
    natsConfig({
      ...o,
      storeDir: resolve(o.storeDir),
      maxFileStore: maxFileStore(diskOf(o.storeDir)),
      ...(encrypted && { tls: tlsFiles(resolve(dir)) }),
    }),
  );
  const yaml = join(dir, 'muster.yaml');
  if (!existsSync(yaml)) writePrivately(yaml, firstConfig(o));
  else followListen(yaml, o.natsListen);
}

/** Makes the keys that are not there. */
function ensureKeys(dir: string): OperatorKeys {
  for (const d of ['', 'creds', 'keys']) privateFolder(join(dir, d));
  for (const key of ['datagram', 'secrets']) newKey(keyFile(dir, key), () => randomBytes(32).toString('hex'));
  newKey(keyFile(dir, 'operator'), () => JSON.stringify(newOperatorKeys()));
  const keys = readOperatorKeys(dir);
  newKey(keyFile(dir, 'agents'), () => JSON.stringify(newAgentsKey(keys)));
  return keys;
}

/** Whether services have NATS accounts of their own: all but those of an earlier `muster init` have. */
export const hasSeparateServices = (dir: string): boolean => readOperatorKeys(dir).own !== undefined;

/**
 * Gives each service but inventory an account of its own, with a new user, where it shares that of the records; the
 * users that they had are worthless from the servers' next start on, and so are the new ones until then. Nothing where
 * it was done before. CONFIG_INVALID where there is no cluster.
 * @param accountsDir where the server keeps its accounts
 * @returns whether anything was changed
 */
export async function separateServices(dir: string, accountsDir = configuredAccountsDir(dir)): Promise<boolean> {
  if (!isCluster(dir)) throw new MusterError('CONFIG_INVALID', `${dir} was not made by muster init`);
  const keys = readOperatorKeys(dir);
  if (keys.own !== undefined) return false;
  refusePlainUsers(dir);
  const own = newOwnAccounts();
  // The operator's key last: what was ended half-way is done again.
  const revoker = keyFile(dir, 'revoker');
  if (existsSync(revoker))
    writePrivately(revoker, `${JSON.stringify({ ...readRevokerKey(revoker), own: accountsOf(own) })}\n`);
  for (const service of ApartServices) {
    const before = existing(dir, service);
    if (before?.jwt !== undefined && before.seed !== undefined) noteRevoked(dir, publicKeyOf(before.seed));
    rmSync(credentialsFile(dir, service), { force: true });
  }
  writePrivately(keyFile(dir, 'operator'), `${JSON.stringify({ ...keys, own })}\n`);
  await writeUsers(dir, [], accountsDir);
  return true;
}

const accountsOf = (own: NonNullable<OperatorKeys['own']>): string[] => ApartServices.map((s) => own[s].account);

/**
 * Keys, CA and users of a cluster whose servers are configured elsewhere; what is there is kept, as by {@link initCluster}.
 * @param accountsDir where its servers keep their accounts
 */
export async function ensureKeysAndUsers(
  dir: string,
  o: Pick<InitOptions, 'cluster' | 'agents'>,
  accountsDir: string,
): Promise<void> {
  o.agents.forEach(checkNode);
  ensureKeys(dir);
  await ensureAuthority(dir, o.cluster);
  await writeUsers(dir, o.agents, accountsDir);
}

/** Once there is a CA, clients insist on TLS: it stays. */
function wantsTls(dir: string, o: InitOptions): boolean {
  if (authorityOf(dir) !== undefined) {
    if (o.plain === true)
      throw new MusterError('CONFIG_INVALID', `${dir} has a CA: its clients do not speak to NATS without TLS`);
    return true;
  }
  if (o.plain !== undefined) return !o.plain;
  if (isOwnMachineOnly(o.natsListen)) return false;
  const listened = configuredListen(dir);
  // Its agents hold no CA: they would be locked out by a start.
  return listened === undefined || isOwnMachineOnly([listened]);
}

/**
 * Gives a cluster that has none a CA and its server a certificate; from its next start on the server speaks TLS, and the
 * users that are made here know its CA. Services' users hold at their next start.
 * @param alsoPlain the server goes on letting clients in that do not speak TLS: for as long as agents hold no CA
 * @throws MusterError CONFIG_INVALID where nats.conf is not as muster init writes it
 */
export async function enableTls(dir: string, hosts: readonly string[], alsoPlain: boolean): Promise<void> {
  hosts.forEach(checkCertificateName);
  const listened = configuredListen(dir);
  if (!isCluster(dir) || hasPlainUsers(dir) || listened === undefined)
    throw new MusterError('CONFIG_INVALID', `${dir} was not made by this version of muster init`);
  const conf = join(dir, 'nats.conf');
  moveKeyApart(dir);
  const changed = withTls(readFileSync(conf, 'utf8'), tlsFiles(resolve(dir)), alsoPlain);
  const { cluster } = parse(readFileSync(join(dir, 'muster.yaml'), 'utf8')) as { cluster?: string };
  await ensureAuthority(dir, cluster ?? 'muster');
  await ensureServerCertificate(dir, certificateNames([listened], hosts, ownNames()));
  await writeUsers(dir, [], configuredAccountsDir(dir));
  writePrivately(conf, changed);
}

/** Where the server of an installation listens by now. */
function configuredListen(dir: string): string | undefined {
  const conf = join(dir, 'nats.conf');
  return existsSync(conf) ? /^listen: "([^"]+)"$/m.exec(readFileSync(conf, 'utf8'))?.[1] : undefined;
}

/** Whether {@link initCluster} has been here: then more users come by {@link addAgentUsers}, and the rest stays. */
export const isCluster = (dir: string): boolean => existsSync(keyFile(dir, 'operator')) || hasPlainUsers(dir);

/** @throws MusterError CONFIG_INVALID where it has users of an earlier Muster, which a start of NATS has to renew */
export function refusePlainUsers(dir: string): void {
  if (hasPlainUsers(dir))
    throw new MusterError(
      'CONFIG_INVALID',
      `${dir} has NATS users of an earlier Muster: stop NATS and run "npm start -- --data ${dir}" once, which renews them`,
    );
}

/**
 * Users for the agents of more nodes; a user that exists is kept. A running nats-server lets them in as they are. The
 * services' users are issued anew with the permissions of this version of Muster, which hold from their next start on.
 * CONFIG_INVALID where there is no cluster yet.
 */
export async function addAgentUsers(dir: string, nodes: string[]): Promise<void> {
  nodes.forEach(checkNode);
  if (!isCluster(dir)) throw new MusterError('CONFIG_INVALID', `${dir} was not made by muster init`);
  refusePlainUsers(dir);
  await writeUsers(dir, nodes, configuredAccountsDir(dir));
}

export const credentialsFile = (dir: string, user: string): string => join(dir, 'creds', `${user}.json`);

const keyFile = (dir: string, name: string): string => join(dir, 'keys', `${name}.key`);

function checkNode(node: string): void {
  if (!NODE_NAME_PATTERN.test(node)) throw new MusterError('CONFIG_INVALID', `"${node}" cannot name a node`);
}

async function writeUsers(dir: string, nodes: string[], accountsDir: string | undefined): Promise<void> {
  const keys = readOperatorKeys(dir);
  const agents = readAgentsKey(keyFile(dir, 'agents'));
  for (const kind of userKinds) {
    const before = existing(dir, kind);
    const isTooWide = kind === 'tools' && mayUseJetStream(before);
    // Copies of it lie with programs: nothing but another key takes from them what they may no longer do.
    if (isTooWide && before?.seed !== undefined) noteRevoked(dir, publicKeyOf(before.seed));
    const credentials = await issueServiceCredentials(keys, kind, isTooWide ? undefined : before?.seed);
    writeCredentials(dir, credentials);
    // Programs of others: their NATS clients know the common form.
    if (kind === 'tools') writePrivately(join(dir, 'creds', 'tools.creds'), credsText(credentials));
  }
  for (const node of nodes)
    if (!signedBy(agents, existing(dir, agentUser(node))))
      writeCredentials(dir, await issueAgentCredentials(agents, node));
  bringAuthority(dir);
  await writeAccounts(dir, accountsDir);
}

/** To the users of agents that were made here. */
function bringAuthority(dir: string): void {
  const ca = authorityOf(dir);
  for (const file of readdirSync(join(dir, 'creds')).filter((name) => /^agent=.+\.json$/.test(name))) {
    const credentials = readJson<BusCredentials>(join(dir, 'creds', file));
    if (credentials.ca !== ca) writeCredentials(dir, credentials);
  }
}

async function writeAccounts(dir: string, accountsDir: string | undefined): Promise<void> {
  writePrivately(accountsFile(dir), await accountsText(dir, accountsDir));
}

/**
 * `nats-accounts.conf` of a server of the cluster.
 * @param accountsDir where it keeps its accounts
 * @param alsoTold where servers have kept them that were told of revocations. @default itself alone
 */
export function accountsText(
  dir: string,
  accountsDir: string | undefined,
  alsoTold: readonly string[] = [],
): Promise<string> {
  const keys = readOperatorKeys(dir);
  return accountsConfig(keys, readAgentsKey(keyFile(dir, 'agents')), revocable(dir, keys, accountsDir, alsoTold));
}

/** An earlier Muster's user of programs; what is not allowed by name cannot be the server's store. */
function mayUseJetStream(credentials: Partial<BusCredentials> | undefined): boolean {
  if (credentials?.jwt === undefined) return false;
  return (decode<User>(credentials.jwt).nats.pub?.allow ?? []).some((subject) => subject.startsWith('$JS.'));
}

/** Public keys of programs' users that are worthless for good → s: what is told to the server at its next start. */
const revokedFile = (dir: string): string => join(dir, 'keys', 'revoked-tools.json');

const revokedTools = (dir: string): Record<string, number> =>
  existsSync(revokedFile(dir)) ? readJson<Record<string, number>>(revokedFile(dir)) : {};

const noteRevoked = (dir: string, key: string): void =>
  writePrivately(revokedFile(dir), `${JSON.stringify({ ...revokedTools(dir), [key]: FOR_GOOD })}\n`);

const toolFile = (dir: string, name: string): string => join(dir, 'creds', `${toolUser(name)}.creds`);

/**
 * A user for one program of the operator's own, as NATS clients read it. A running nats-server lets it in as it is.
 * CONFIG_INVALID where there is no cluster, the name is none, or it is taken.
 * @returns the file
 */
export async function addToolUser(dir: string, name: string, role: ToolRole): Promise<string> {
  checkTool(dir, name);
  const file = toolFile(dir, name);
  if (existsSync(file)) throw new MusterError('CONFIG_INVALID', `${file} exists: revoke that program first`);
  writePrivately(file, credsText(await issueToolCredentials(readOperatorKeys(dir), name, role)));
  return file;
}

/** Programs that have a user of their own. */
export const toolUsers = (dir: string): string[] =>
  readdirSync(join(dir, 'creds')).flatMap((file) => /^tool=(.+)\.creds$/.exec(file)?.[1] ?? []);

/**
 * Makes the user of a program worthless: at once, where the server is told with `key` and `servers` of the answer; else
 * from its next start on. CONFIG_INVALID where there is no such user.
 */
export async function revokeToolUser(dir: string, name: string): Promise<RevokedTool> {
  checkTool(dir, name);
  const file = toolFile(dir, name);
  if (!existsSync(file)) throw new MusterError('CONFIG_INVALID', `no program ${name} has a user here`);
  const key = publicKeyOf(seedOfCreds(readFileSync(file, 'utf8')));
  noteRevoked(dir, key);
  await writeAccounts(dir, configuredAccountsDir(dir));
  rmSync(file);
  const { nats } = parse(readFileSync(join(dir, 'muster.yaml'), 'utf8')) as { nats?: { servers?: string[] } };
  const ca = authorityOf(dir);
  return {
    key,
    revoker: readRevokerKey(keyFile(dir, 'revoker')),
    servers: nats?.servers ?? [],
    ...(ca !== undefined && { ca }),
  };
}

/** What {@link revokeAgentUsers} is told of it. */
export interface RevokedTool {
  /** Public key. */
  key: string;
  revoker: RevokerKey;
  servers: string[];
  /** PEM: the CA of the servers' certificates. */
  ca?: string;
}

function checkTool(dir: string, name: string): void {
  if (!NAME_PATTERN.test(name)) throw new MusterError('CONFIG_INVALID', `"${name}" cannot name a program`);
  if (!isCluster(dir) || hasPlainUsers(dir))
    throw new MusterError('CONFIG_INVALID', `${dir} was not made by this version of muster init`);
}

function seedOfCreds(text: string): string {
  const seed = /-+BEGIN USER NKEY SEED-+\s+(\S+)/.exec(text)?.[1];
  if (seed === undefined) throw new MusterError('CONFIG_INVALID', 'the credentials of the program hold no key');
  return seed;
}

const accountsFile = (dir: string): string => join(dir, 'nats-accounts.conf');

/** Where the server keeps its accounts, or will, from its next start on; undefined where nats.conf is not as we write it. */
export function configuredAccountsDir(dir: string): string | undefined {
  const store = configuredStore(dir);
  return store === undefined ? undefined : accountsIn(store);
}

/** Where the server keeps its streams, or the first control host's; undefined where nats.conf is not as we write it. */
export function configuredStore(dir: string): string | undefined {
  const conf = [dir, ...writtenHosts(dir).hosts.map((name) => hostFolder(dir, name))]
    .map((folder) => join(folder, 'nats.conf'))
    .find((file) => existsSync(file));
  if (conf === undefined) return undefined;
  const store = /^ *store_dir: ("[^\n]*")$/m.exec(readFileSync(conf, 'utf8'))?.[1];
  return store === undefined ? undefined : (JSON.parse(store) as string);
}

export const accountsIn = (storeDir: string): string => join(resolve(storeDir), 'accounts');

/** What servers that keep their accounts there were told of them. */
const toldFiles = ({ account }: OperatorKeys, folders: readonly string[]): string[] =>
  folders.map((folder) => join(folder, `${account}.jwt`)).filter((file) => existsSync(file));

/** Whether a server that was told of revocations keeps its accounts in one of these folders: here they can be read. */
export const readsRevocations = (dir: string, folders: readonly string[]): boolean =>
  toldFiles(readOperatorKeys(dir), folders).length > 0;

/** What was revoked stays so: the accounts that are written here are newer than those that the server was told. */
function revocable(
  dir: string,
  keys: OperatorKeys,
  accountsDir: string | undefined,
  alsoTold: readonly string[],
): Revocable | undefined {
  if (accountsDir === undefined) return undefined;
  const { account, system, own } = keys;
  newKey(keyFile(dir, 'revoker'), () =>
    JSON.stringify(newRevokerKey({ account, system, ...(own && { own: accountsOf(own) }) })),
  );
  const told = toldFiles(keys, [accountsDir, ...alsoTold]).map(
    (file) => decode<Account>(readFileSync(file, 'utf8').trim()).nats.revocations,
  );
  const revocations = Object.assign({}, ...told, revokedTools(dir)) as Record<string, number>;
  return { key: readRevokerKey(keyFile(dir, 'revoker')), accountsDir, revocations };
}

function writeCredentials(dir: string, credentials: BusCredentials): void {
  const ca = authorityOf(dir);
  const whole = { ...credentials, ...(ca !== undefined && { ca }) };
  writePrivately(credentialsFile(dir, credentials.user), `${JSON.stringify(whole)}\n`);
}

const credsText = ({ jwt, seed }: BusCredentials): string => new TextDecoder().decode(fmtCreds(jwt, keyPair(seed)));

/** An earlier Muster's have no `jwt`. */
function existing(dir: string, user: string): Partial<BusCredentials> | undefined {
  const file = credentialsFile(dir, user);
  return existsSync(file) ? readJson<Partial<BusCredentials>>(file) : undefined;
}

const signedBy = (key: AgentsKey, credentials: Partial<BusCredentials> | undefined): boolean =>
  credentials?.jwt !== undefined && decode(credentials.jwt).iss === keyPair(key.seed).getPublicKey();

/** @throws MusterError CONFIG_INVALID */
export const readOperatorKeys = (dir: string): OperatorKeys => readJson<OperatorKeys>(keyFile(dir, 'operator'));

function readJson<T>(file: string): T {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    // Without the cause: it may quote a seed.
    throw new MusterError('CONFIG_INVALID', `${file} cannot be read as JSON`, { file });
  }
}

/** Users were once listed in the server's configuration, and its streams stood in the account of a server without any. */
const hasPlainUsers = (dir: string): boolean => existsSync(join(dir, 'users.json'));

function adoptStore(dir: string, storeDir: string, account: string): void {
  if (!hasPlainUsers(dir)) return;
  const plain = join(storeDir, 'jetstream', '$G');
  const own = join(storeDir, 'jetstream', account);
  if (existsSync(plain) && !existsSync(own)) renameSync(plain, own);
  for (const file of ['nats-users.conf', 'users.json']) rmSync(join(dir, file), { force: true });
}

function newKey(file: string, make: () => string): void {
  if (!existsSync(file)) writePrivately(file, `${make()}\n`);
}

/** Where services on the same machine reach NATS. */
const natsServers = (listen: string[]): string[] =>
  listen.map((address) => `nats://${address.replace(/^(0\.0\.0\.0|\[::\]):/, '127.0.0.1:')}`);

/** Only where it differs, and only these values: the file is the operator's, with comments. */
function followListen(file: string, natsListen: string[]): void {
  const doc = parseDocument(readFileSync(file, 'utf8'));
  const listen = listenAddress(natsListen);
  if (doc.errors.length > 0 || doc.getIn(['nats', 'listen']) === listen) return;
  doc.setIn(['nats', 'listen'], listen);
  doc.setIn(['nats', 'servers'], natsServers(natsListen));
  writePrivately(file, doc.toString());
}

const firstConfig = (o: InitOptions): string =>
  newConfig(
    o.cluster,
    {
      listen: listenAddress(o.natsListen),
      servers: natsServers(o.natsListen),
      store: resolve(o.storeDir),
      ...(o.plain === true && !isOwnMachineOnly(o.natsListen) && { plain: true }),
    },
    o.config,
  );

/** A new `muster.yaml`. */
export function newConfig(cluster: string, nats: object, more: Record<string, unknown> = {}): string {
  const values = {
    cluster,
    nats,
    keys: Object.fromEntries(['datagram', 'secrets', 'agents', 'revoker'].map((key) => [key, keyFile('', key)])),
    dataDir: 'data',
    ...more,
  };
  return `# Written by muster init; yours to edit. Paths are relative to this file.\n${stringify(values)}`;
}
