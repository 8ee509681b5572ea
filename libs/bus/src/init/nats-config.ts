import { MusterError } from '#contracts';
import { agentPermissions, userKinds, userPermissions, type Permissions, type UserKind } from './permissions.js';

export interface NatsConfigOptions {
  cluster: string;
  /** `host:port`; several must share the port: nats-server listens on one address or on all. */
  natsListen: string[];
  storeDir: string;
  /** Port of the server's monitoring page on 127.0.0.1. @default none */
  monitor?: number;
  /** E.g. `2.12.1`. Each server refuses settings that it does not know. @default the oldest supported */
  natsVersion?: string;
}

const quote = (text: string): string => JSON.stringify(text);

/** CONFIG_INVALID where an address is not host:port or the ports differ. */
export function listenAddress(addresses: string[]): string {
  const parts = addresses.map((address) => /^(.+):(\d{1,5})$/.exec(address));
  const wrong = addresses.find((_, i) => !parts[i] || Number(parts[i][2]) > 65535);
  if (addresses.length === 0 || wrong !== undefined)
    throw new MusterError('CONFIG_INVALID', `NATS must listen on host:port, not on "${wrong ?? ''}"`);
  const ports = new Set(parts.map((p) => p![2]));
  if (ports.size > 1)
    throw new MusterError('CONFIG_INVALID', `NATS listens on one port, not on ${[...ports].join(' and ')}`);
  return addresses.length === 1 ? addresses[0]! : `0.0.0.0:${parts[0]![2]}`;
}

const atLeast = (version: string, major: number, minor: number): boolean => {
  const [a = 0, b = 0] = version.split('.').map(Number);
  return a > major || (a === major && b >= minor);
};

export function natsConfig(o: NatsConfigOptions): string {
  const always = o.natsVersion !== undefined && atLeast(o.natsVersion, 2, 10);
  return [
    '# Written by muster init. Users and what they may do: nats-users.conf, written by the same.',
    `server_name: ${quote(`muster-${o.cluster}`)}`,
    `listen: ${quote(listenAddress(o.natsListen))}`,
    ...(o.monitor === undefined ? [] : [`http: "127.0.0.1:${o.monitor}"`]),
    'max_payload: 8MB',
    '# A client that is silently cut off is noticed in 3 s.',
    'ping_interval: "1s"',
    'ping_max: 2',
    'jetstream {',
    `  store_dir: ${quote(o.storeDir)}`,
    // The default writes to the disk every two minutes: what was acknowledged could be lost on a power cut.
    ...(always ? ['  sync_interval: always'] : []),
    '}',
    'include "nats-users.conf"',
    '',
  ].join('\n');
}

/** User → public nkey, as kept in `users.json`. */
export type Users = Record<string, string>;

export function permissionsOf(user: string): Permissions {
  if (user.startsWith('agent=')) return agentPermissions(user.slice('agent='.length));
  if ((userKinds as readonly string[]).includes(user)) return userPermissions(user as UserKind);
  throw new MusterError('CONFIG_INVALID', `"${user}" is no user of Muster`);
}

export function usersConfig(users: Users): string {
  const list = (subjects: string[]): string => `[${subjects.map(quote).join(', ')}]`;
  const one = ([user, key]: [string, string]): string => {
    const p = permissionsOf(user);
    return [
      `    # ${user}`,
      `    { nkey: ${key}, permissions: {`,
      `      publish: { allow: ${list(p.publish)} }`,
      `      subscribe: { allow: ${list(p.subscribe)} }`,
      ...(p.responses ? ['      allow_responses: { max: 1, expires: "1m" }'] : []),
      '    } }',
    ].join('\n');
  };
  return [
    'authorization {',
    '  # s. Signing the challenge takes a busy machine longer than the default of 2 s.',
    '  timeout: 10',
    '  users: [',
    Object.entries(users).map(one).join('\n'),
    '  ]',
    '}',
    '',
  ].join('\n');
}
