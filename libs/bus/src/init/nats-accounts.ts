import {
  encodeAccount,
  encodeOperator,
  encodeUser,
  newScopedSigner,
  type Export,
  type Import,
  type Permissions as Claims,
} from '@nats-io/jwt';
import { createAccount, createOperator, createUser, type KeyPair } from '@nats-io/nkeys';
import type { BusCredentials } from '../ports/types.js';
import { bordersOf, type Border } from './account-borders.js';
import type { AgentsKey } from './agents-key.js';
import { toolUser } from '#contracts';
import { keyPair, seedOf } from '#contracts/keys/nkey.js';
import {
  agentPermissions,
  ApartServices,
  isApart,
  toolPermissions,
  userPermissions,
  type ApartService,
  type Permissions,
  type ToolRole,
  type UserKind,
} from '../users/permissions.js';
import { revokerPermissions, type RevokerKey } from './revoker-key.js';

/**
 * `keys/operator.key`: what the users of a cluster rest on; only `muster init` needs it. Of an account nothing but its
 * public key is kept: users are signed by its signing keys, the account itself by the operator.
 */
export interface OperatorKeys {
  /** nkey seed. */
  operator: string;
  /** Public key of nats-server's own account. */
  system: string;
  /** Public key of Muster's account. */
  account: string;
  /** nkey seed: signs the users of Muster's account that are no agents'. */
  services: string;
  /** Services' own accounts. Absent: all users are of Muster's account, as an earlier `muster init` made them. */
  own?: Record<ApartService, OwnAccount>;
}

/** Of one service. */
export interface OwnAccount {
  /** Public key. */
  account: string;
  /** nkey seed: signs its user. */
  users: string;
}

export function newOperatorKeys(): OperatorKeys {
  return {
    operator: seedOf(createOperator()),
    system: publicKeyOfAccount(),
    account: publicKeyOfAccount(),
    services: seedOf(createAccount()),
    own: newOwnAccounts(),
  };
}

export const newOwnAccounts = (): Record<ApartService, OwnAccount> =>
  Object.fromEntries(
    ApartServices.map((service) => [
      service,
      { account: publicKeyOfAccount(), users: seedOf(createAccount()) } satisfies OwnAccount,
    ]),
  ) as Record<ApartService, OwnAccount>;

const publicKeyOfAccount = (): string => keyPair(seedOf(createAccount())).getPublicKey();

export const newAgentsKey = (keys: OperatorKeys): AgentsKey => ({
  account: keys.account,
  seed: seedOf(createAccount()),
});

const noLimits = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const allStorage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

/**
 * Nothing is published here. The server loads its own account before it listens, and with it those that it imports from.
 * Where users of several accounts that import from one come at once to a server that has not loaded that one, some of
 * them are left with a copy of it, seen on 2.9.10: what they publish reaches no stream.
 */
const LOADS = { name: 'muster.loads', subject: 'muster.loads', type: 'stream' } as unknown as Export & Import;

const ANSWER_WITHIN_NS = 60 * 1_000_000_000;

/** An empty list of what is allowed would allow everything. */
const only = (subjects: string[]): { allow: string[] } | { deny: string[] } =>
  subjects.length > 0 ? { allow: subjects } : { deny: ['>'] };

const claims = (p: Permissions): Claims => ({
  pub: { ...only(p.publish), ...(p.except && { deny: p.except }) },
  sub: only(p.subscribe),
  ...(p.responses && { resp: { max: 1, ttl: ANSWER_WITHIN_NS } }),
});

/** What a server needs that can be told of revocations. */
export interface Revocable {
  key: RevokerKey;
  /** Folder in which the server keeps its accounts: what it was told last counts, also after a restart. */
  accountsDir: string;
  /** Users that were revoked by now: public key → when, s. */
  revocations?: Record<string, number>;
}

/** `nats-accounts.conf`: whom the server believes. Nothing in it is secret. Without `revocable` users stay for good. */
export async function accountsConfig(keys: OperatorKeys, agents: AgentsKey, revocable?: Revocable): Promise<string> {
  const operator = keyPair(keys.operator);
  const scope = newScopedSigner(keyPair(agents.seed), 'agent', claims(agentPermissions('{{name()}}')));
  const revoker =
    revocable && newScopedSigner(keyPair(revocable.key.users), 'revoker', claims(revokerPermissions(revocable.key)));
  const { own } = keys;
  const borders = own && bordersOf({ store: keys.account, ...publicKeys(own) });
  const system = {
    limits: noLimits,
    ...(revoker && { signing_keys: [revoker] }),
    ...(own && { imports: [{ ...LOADS, account: keys.account }] }),
  };
  const accounts = [
    [keys.system, await encodeAccount('SYSTEM', keys.system, system, { signer: operator })],
    [
      keys.account,
      await encodeAccount(
        'MUSTER',
        keys.account,
        {
          limits: { ...noLimits, ...allStorage },
          signing_keys: [keyPair(keys.services).getPublicKey(), scope],
          ...(revocable?.revocations && { revocations: revocable.revocations }),
          ...(borders && { ...borders.store, exports: [...borders.store.exports, LOADS] }),
        },
        { signer: operator },
      ),
    ],
    ...(own && borders ? await ownAccounts(own, borders, operator) : []),
  ] as const;
  const claimed = {
    system_account: keys.system,
    ...(revocable && { signing_keys: [keyPair(revocable.key.operator).getPublicKey()] }),
  };
  return [
    '# Written by muster init. Users are signed by keys that the accounts name: a new one needs no change here.',
    `operator: ${await encodeOperator('muster', operator, claimed)}`,
    `system_account: ${keys.system}`,
    ...(revocable
      ? [
          '# The server keeps the accounts as it was told last: those below are for its first start.',
          '# In a cluster one that was away asks the others every 2 s: until then it lets in who was revoked meanwhile.',
          `resolver: { type: full, dir: ${JSON.stringify(revocable.accountsDir)}, allow_delete: false, interval: "2s" }`,
        ]
      : ['resolver: MEMORY']),
    'resolver_preload: {',
    ...accounts.map(([account, jwt]) => `  ${account}: ${jwt}`),
    '}',
    '# s. Signing the challenge takes a busy machine longer than the default of 2 s.',
    'authorization { timeout: 10 }',
    '',
  ].join('\n');
}

const publicKeys = (own: Record<ApartService, OwnAccount>): Record<ApartService, string> =>
  Object.fromEntries(ApartServices.map((service) => [service, own[service].account])) as Record<ApartService, string>;

/** They keep nothing: what they have stored is stored by the account whose streams they import. */
const ownAccounts = (
  own: Record<ApartService, OwnAccount>,
  borders: Record<ApartService, Border>,
  operator: KeyPair,
): Promise<[account: string, jwt: string][]> =>
  Promise.all(
    ApartServices.map(async (service): Promise<[string, string]> => {
      const { account, users } = own[service];
      const signed = { limits: noLimits, signing_keys: [keyPair(users).getPublicKey()], ...borders[service] };
      return [account, await encodeAccount(service.toUpperCase(), account, signed, { signer: operator })];
    }),
  );

/** What this version of Muster needs to be allowed. `seedBefore`: of the user's key, which it keeps. */
export async function issueServiceCredentials(
  keys: OperatorKeys,
  user: UserKind,
  seedBefore?: string,
): Promise<BusCredentials> {
  const pair = keyPair(seedBefore ?? seedOf(createUser()));
  const own = isApart(user) ? keys.own?.[user] : undefined;
  const by = { signer: keyPair(own?.users ?? keys.services) };
  const allowed = claims(userPermissions(user, own !== undefined));
  const jwt = await encodeUser(user, pair.getPublicKey(), own?.account ?? keys.account, allowed, by);
  return { user, seed: seedOf(pair), jwt, ...(own && { ownAccount: true }) };
}

/** A program's own user; a new key each time, so that a revoked one stays worthless. */
export async function issueToolCredentials(keys: OperatorKeys, name: string, role: ToolRole): Promise<BusCredentials> {
  const user = toolUser(name);
  const pair = keyPair(seedOf(createUser()));
  const by = { signer: keyPair(keys.services) };
  const jwt = await encodeUser(user, pair.getPublicKey(), keys.account, claims(toolPermissions(name, role)), by);
  return { user, seed: seedOf(pair), jwt };
}
