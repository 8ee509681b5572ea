import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createUser } from '@nats-io/nkeys';
import { parseDocument, stringify } from 'yaml';
import { MusterError, NAME_PATTERN, NODE_NAME_PATTERN } from '#contracts';
import type { BusCredentials } from '../types.js';
import { listenAddress, natsConfig, usersConfig, type NatsConfigOptions, type Users } from './nats-config.js';
import { agentUser, userKinds } from './permissions.js';

export interface InitOptions extends Omit<NatsConfigOptions, 'storeDir'> {
  /** Nodes whose agents get a user; more by {@link addAgentUsers}. */
  agents: string[];
  /** Where the server keeps streams and buckets. */
  storeDir: string;
  /** More for a new `muster.yaml`: `ansible`, `http`, `initial` … */
  config?: Record<string, unknown>;
}

/**
 * Writes everything a cluster needs before its first start into `dir`: `nats.conf` and `nats-users.conf`,
 * `creds/<service>.json`, `creds/agent=<node>.json`, `keys/datagram.key`, `keys/secrets.key`, `muster.yaml`, all of
 * mode 600. It may run again: keys, users and a `muster.yaml` that exist are kept, but for where NATS listens, which
 * stands in `nats.conf` and `muster.yaml` as told last. CONFIG_INVALID names what is wrong.
 */
export function initCluster(dir: string, o: InitOptions): void {
  if (!NAME_PATTERN.test(o.cluster)) throw new MusterError('CONFIG_INVALID', `"${o.cluster}" cannot name a cluster`);
  // First, so that a wrong option leaves nothing behind.
  listenAddress(o.natsListen);
  o.agents.forEach(checkNode);
  for (const d of ['', 'creds', 'keys']) privateFolder(join(dir, d));
  for (const key of ['datagram', 'secrets']) newKey(join(dir, 'keys', `${key}.key`));
  const users = readUsers(dir);
  for (const user of [...userKinds, ...o.agents.map(agentUser)]) addUser(dir, users, user);
  writeUsers(dir, users);
  write(join(dir, 'nats.conf'), natsConfig({ ...o, storeDir: resolve(o.storeDir) }));
  const yaml = join(dir, 'muster.yaml');
  if (!existsSync(yaml)) write(yaml, firstConfig(o));
  else followListen(yaml, o.natsListen);
}

/** Whether {@link initCluster} has been here: then more users come by {@link addAgentUsers}, and the rest stays. */
export const isCluster = (dir: string): boolean => existsSync(join(dir, 'users.json'));

/**
 * Users for the agents of more nodes; a user that exists keeps its key. Permissions are written anew, as this version
 * of Muster has them. A running nats-server learns of them by SIGHUP. CONFIG_INVALID where there is no cluster yet.
 */
export function addAgentUsers(dir: string, nodes: string[]): void {
  nodes.forEach(checkNode);
  if (!isCluster(dir)) throw new MusterError('CONFIG_INVALID', `${dir} was not made by muster init`);
  const users = readUsers(dir);
  for (const user of [...userKinds, ...nodes.map(agentUser)]) addUser(dir, users, user);
  writeUsers(dir, users);
}

export const credentialsFile = (dir: string, user: string): string => join(dir, 'creds', `${user}.json`);

function checkNode(node: string): void {
  if (!NODE_NAME_PATTERN.test(node)) throw new MusterError('CONFIG_INVALID', `"${node}" cannot name a node`);
}

/** Only the public half stays in the users' list: a credentials file may be moved to its node. */
function addUser(dir: string, users: Users, user: string): void {
  if (users[user] !== undefined) return;
  const pair = createUser();
  const credentials: BusCredentials = { user, seed: new TextDecoder().decode(pair.getSeed()) };
  write(credentialsFile(dir, user), `${JSON.stringify(credentials)}\n`);
  users[user] = pair.getPublicKey();
}

function readUsers(dir: string): Users {
  const file = join(dir, 'users.json');
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Users;
  } catch (e) {
    throw new MusterError('CONFIG_INVALID', `${file}: ${(e as Error).message}`, {}, { cause: e });
  }
}

function writeUsers(dir: string, users: Users): void {
  write(join(dir, 'nats-users.conf'), usersConfig(users));
  write(join(dir, 'users.json'), `${JSON.stringify(users, null, 2)}\n`);
}

function newKey(file: string): void {
  if (!existsSync(file)) write(file, `${randomBytes(32).toString('hex')}\n`);
}

function privateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Aside, then renamed: a server that reads it meanwhile sees the old one or the new one. */
function write(file: string, text: string): void {
  const aside = `${file}.new`;
  writeFileSync(aside, text, { mode: 0o600 });
  chmodSync(aside, 0o600);
  renameSync(aside, file);
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
  write(file, doc.toString());
}

function firstConfig(o: InitOptions): string {
  const keyFile = (name: string): string => join('keys', `${name}.key`);
  const values = {
    cluster: o.cluster,
    nats: { listen: listenAddress(o.natsListen), servers: natsServers(o.natsListen) },
    keys: { datagram: keyFile('datagram'), secrets: keyFile('secrets') },
    dataDir: 'data',
    ...o.config,
  };
  return `# Written by muster init; yours to edit. Paths are relative to this file.\n${stringify(values)}`;
}
