import { createAccount, createOperator } from '@nats-io/nkeys';
import { inboxPrefix } from '#contracts';
import { keyPair, seedOf } from '#contracts/keys/nkey.js';
import type { Permissions } from '../users/permissions.js';
import { readKeyFile } from './read-key-file.js';

/**
 * `keys/revoker.key`: with it users of agents are made worthless while NATS runs, and its servers are asked what they are.
 * Inventory alone needs it, and for nothing else; it can sign accounts, so whoever reads it can become anybody on the bus. Secret.
 */
export interface RevokerKey {
  /** Public key of the account whose users are revoked. */
  account: string;
  /** Public key of nats-server's own account, over which it is told. */
  system: string;
  /** Public keys of the services' own accounts, whose connections are counted. @default none */
  own?: string[];
  /** nkey seed: signs the account. */
  operator: string;
  /** nkey seed: signs the user that tells the server. */
  users: string;
}

export const newRevokerKey = ({
  account,
  system,
  own,
}: Pick<RevokerKey, 'account' | 'system' | 'own'>): RevokerKey => ({
  account,
  system,
  ...(own && { own }),
  operator: seedOf(createOperator()),
  users: seedOf(createAccount()),
});

/** CONFIG_INVALID names the file, never its content. */
export function readRevokerKey(file: string): RevokerKey {
  const check = ({ account, system, own, operator, users }: RevokerKey): RevokerKey => {
    for (const seed of [operator, users]) keyPair(seed);
    for (const key of [account, system, ...(own ?? [])]) if (typeof key !== 'string') throw new TypeError('no account');
    return { account, system, ...(own && { own }), operator, users };
  };
  return readKeyFile(file, check, "a revoker's key: run muster init");
}

/** Name of the user that tells the server. */
export const REVOKER = 'revoker';

const ofAccount = (account: string, what: string): string => `$SYS.REQ.ACCOUNT.${account}.${what}`;

/** What nats-server answers and takes over its own account. */
export const SystemRequests = {
  update: '$SYS.REQ.CLAIMS.UPDATE',
  /** Each server of a cluster answers what it is, and how it is configured. */
  servers: '$SYS.REQ.SERVER.PING.VARZ',
  lookup: (account: string): string => ofAccount(account, 'CLAIMS.LOOKUP'),
  connections: (account: string): string => ofAccount(account, 'CONNZ'),
} as const;

/** The scope of the key `users`: no user that it signs may do more. */
export const revokerPermissions = ({ account, own = [] }: Pick<RevokerKey, 'account' | 'own'>): Permissions => ({
  publish: [
    SystemRequests.update,
    SystemRequests.servers,
    SystemRequests.lookup(account),
    ...[account, ...own].map((key) => SystemRequests.connections(key)),
  ],
  subscribe: [`${inboxPrefix(REVOKER)}.>`],
  responses: false,
});
