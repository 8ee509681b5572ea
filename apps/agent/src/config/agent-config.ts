import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseDatagramKeys } from '#contracts/wire/datagram.js';
import { MusterError } from '#contracts/errors/errors.js';
import { NAME_PATTERN, NODE_NAME_PATTERN } from '#contracts/names/names.js';
import { allSwitchedOn, type RejoinSwitches } from '../membership/membership.js';
import type { NatsCredentials } from '../nats/nats-link.js';

/** /etc/muster/agent.json, validated. */
export interface AgentConfig {
  node: string;
  /** Goes into the MAC of every datagram: another cluster's are foreign, even with the same key. */
  cluster: string;
  /** Own address per network; the socket of a network is bound to it. One to four. */
  networks: Record<string, { bind: string }>;
  /** UDP port, the same on every node. */
  port: number;
  /** NATS servers as reached over each network: one connection per entry. */
  nats: Record<string, string[]>;
  /** JSON file `{user, seed}`. Absent: a server without users. */
  credentials?: string;
  /** File with one or two keys, one hex line each; the first signs. */
  keys: string;
  /** @default '/var/lib/muster' */
  stateDir: string;
  /** Unix socket of the gate and of the status command. @default '/run/muster/agent.sock' */
  socket: string;
  /** @default '/proc/sys/kernel/random/boot_id' */
  bootIdFile: string;
  /** Command that prints the running workloads as JSON `[{name, generation}]`. Absent: the agent looks itself. */
  lister?: string[];
  /**
   * Parts of the rejoin loop, each on by default. `loop: false`: no run ever, nor is a lost peer asked to rejoin when
   * it is heard; `timer: false`: none by the timer; `triggers: false`: by the timer only; `lowRate: false`: a lost peer
   * is not asked every 30 s between the runs. For tests of what each part is for.
   */
  rejoin: RejoinSwitches;
  /**
   * Answers bare 16-byte probes of other implementations on this UDP port of every network, at most 200 a second on each,
   * never the same bytes twice. Unauthenticated, and without any vote. Absent: off.
   */
  plain?: { port: number };
}

/** Put before every absolute path of the host: lets a host without root live in a folder. */
export const musterRoot = (): string => process.env.MUSTER_ROOT ?? '';

export const defaultConfigFile = (): string => `${musterRoot()}/etc/muster/agent.json`;

/** Reads and checks the file. CONFIG_INVALID names the file, the field, and what it must be. */
export function loadConfig(file: string): AgentConfig {
  const refuse = (what: string, cause?: unknown): never => {
    throw new MusterError('CONFIG_INVALID', `${file}: ${what}`, {}, { cause });
  };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (e) {
    return refuse(`cannot be read (${(e as NodeJS.ErrnoException).code ?? String(e)})`, e);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (e) {
    return refuse('is not JSON', e);
  }
  try {
    return checkConfig(raw);
  } catch (e) {
    return refuse((e as Error).message, e);
  }
}

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

/** Throws an Error that names the field. */
export function checkConfig(raw: unknown): AgentConfig {
  if (!isObject(raw)) throw new Error('must be a JSON object');
  const wrong = (field: string, must: string): never => {
    throw new Error(`"${field}" must be ${must}`);
  };
  const text = (field: string, fallback?: string): string => {
    const value = raw[field] ?? fallback;
    return typeof value === 'string' && value.length > 0 ? value : wrong(field, 'a text');
  };
  const texts = (field: string, value: unknown): string[] =>
    Array.isArray(value) && value.length > 0 && value.every((x) => typeof x === 'string' && x.length > 0)
      ? (value as string[])
      : wrong(field, 'a list of texts');

  const node = text('node');
  if (!NODE_NAME_PATTERN.test(node)) wrong('node', 'a node name (letters, digits, ".", "_", "-")');
  const portOf = (field: string, value: unknown): number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65535
      ? value
      : wrong(field, 'a port number');
  const port = portOf('port', raw.port);
  const plain =
    raw.plain === undefined ? undefined : { port: portOf('plain.port', isObject(raw.plain) && raw.plain.port) };
  if (plain?.port === port) wrong('plain.port', 'another port than "port"');

  const networks: AgentConfig['networks'] = {};
  const givenNetworks = isObject(raw.networks) ? Object.entries(raw.networks) : [];
  if (givenNetworks.length < 1 || givenNetworks.length > 4) wrong('networks', 'one to four networks by name');
  for (const [name, value] of givenNetworks) {
    if (!NAME_PATTERN.test(name)) wrong(`networks.${name}`, 'named by letters, digits, ".", "_", "-"');
    const bind = isObject(value) ? value.bind : undefined;
    if (typeof bind !== 'string' || isIP(bind) === 0) return wrong(`networks.${name}.bind`, 'an IP address');
    networks[name] = { bind };
  }
  const nats: AgentConfig['nats'] = {};
  const givenNats = isObject(raw.nats) ? Object.entries(raw.nats) : [];
  if (givenNats.length === 0) wrong('nats', 'lists of server URLs by network');
  for (const [name, urls] of givenNats) nats[name] = texts(`nats.${name}`, urls);

  const rejoin: RejoinSwitches = { ...allSwitchedOn };
  if (raw.rejoin !== undefined && !isObject(raw.rejoin)) wrong('rejoin', 'an object of switches');
  for (const [name, value] of Object.entries(raw.rejoin ?? {})) {
    if (!Object.hasOwn(allSwitchedOn, name)) wrong(`rejoin.${name}`, `one of ${Object.keys(allSwitchedOn).join(', ')}`);
    if (typeof value !== 'boolean') wrong(`rejoin.${name}`, 'true or false');
    rejoin[name as keyof RejoinSwitches] = value as boolean;
  }

  const root = musterRoot();
  return {
    node,
    cluster: text('cluster'),
    networks,
    port,
    nats,
    ...(raw.credentials !== undefined && { credentials: text('credentials') }),
    keys: text('keys'),
    stateDir: text('stateDir', `${root}/var/lib/muster`),
    socket: text('socket', `${root}/run/muster/agent.sock`),
    bootIdFile: text('bootIdFile', '/proc/sys/kernel/random/boot_id'),
    ...(raw.lister !== undefined && { lister: texts('lister', raw.lister) }),
    rejoin,
    ...(plain && { plain }),
  };
}

/** CONFIG_INVALID: the key file cannot be read or holds no keys. */
export function loadKeys(file: string): Buffer[] {
  try {
    return parseDatagramKeys(readFileSync(file, 'utf8'));
  } catch (e) {
    throw new MusterError('CONFIG_INVALID', `key file ${file}: ${(e as Error).message}`, {}, { cause: e });
  }
}

/** `{user, seed, jwt, ca}` of this agent's NATS user; `ca` where NATS speaks TLS. */
export function loadCredentials(file: string): NatsCredentials {
  try {
    const { user, seed, jwt, ca } = JSON.parse(readFileSync(file, 'utf8')) as Partial<NatsCredentials>;
    if (typeof user === 'string' && typeof seed === 'string' && typeof jwt === 'string') {
      if (ca === undefined) return { user, seed, jwt };
      if (typeof ca === 'string' && ca.includes('-----BEGIN CERTIFICATE-----')) return { user, seed, jwt, ca };
      throw new Error('"ca" is no certificate');
    }
  } catch (e) {
    throw new MusterError(
      'CONFIG_INVALID',
      `credentials ${file} cannot be read (${(e as Error).message})`,
      {},
      { cause: e },
    );
  }
  throw new MusterError('CONFIG_INVALID', `credentials ${file} must hold "user", "seed" and "jwt"`);
}
