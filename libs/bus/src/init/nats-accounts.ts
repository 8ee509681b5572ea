import { encodeAccount, encodeOperator, encodeUser, newScopedSigner, type Permissions as Claims } from '@nats-io/jwt';
import { createAccount, createOperator, createUser } from '@nats-io/nkeys';
import type { BusCredentials } from '../types.js';
import type { AgentsKey } from './agents-key.js';
import { keyPair, seedOf } from './nkey.js';
import { agentPermissions, userPermissions, type Permissions, type UserKind } from './permissions.js';

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
  /** nkey seed: signs the services' users. */
  services: string;
}

export function newOperatorKeys(): OperatorKeys {
  return {
    operator: seedOf(createOperator()),
    system: publicKeyOfAccount(),
    account: publicKeyOfAccount(),
    services: seedOf(createAccount()),
  };
}

const publicKeyOfAccount = (): string => keyPair(seedOf(createAccount())).getPublicKey();

export const newAgentsKey = (keys: OperatorKeys): AgentsKey => ({
  account: keys.account,
  seed: seedOf(createAccount()),
});

const noLimits = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const allStorage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

const ANSWER_WITHIN_NS = 60 * 1_000_000_000;

/** An empty list of what is allowed would allow everything. */
const only = (subjects: string[]): { allow: string[] } | { deny: string[] } =>
  subjects.length > 0 ? { allow: subjects } : { deny: ['>'] };

const claims = (p: Permissions): Claims => ({
  pub: { ...only(p.publish), ...(p.except && { deny: p.except }) },
  sub: only(p.subscribe),
  ...(p.responses && { resp: { max: 1, ttl: ANSWER_WITHIN_NS } }),
});

/** `nats-accounts.conf`: whom the server believes. Nothing in it is secret. */
export async function accountsConfig(keys: OperatorKeys, agents: AgentsKey): Promise<string> {
  const operator = keyPair(keys.operator);
  const scope = newScopedSigner(keyPair(agents.seed), 'agent', claims(agentPermissions('{{name()}}')));
  const accounts = [
    [keys.system, await encodeAccount('SYSTEM', keys.system, { limits: noLimits }, { signer: operator })],
    [
      keys.account,
      await encodeAccount(
        'MUSTER',
        keys.account,
        {
          limits: { ...noLimits, ...allStorage },
          signing_keys: [keyPair(keys.services).getPublicKey(), scope],
        },
        { signer: operator },
      ),
    ],
  ] as const;
  return [
    '# Written by muster init. Users are signed by keys that the accounts name: a new one needs no change here.',
    `operator: ${await encodeOperator('muster', operator, { system_account: keys.system })}`,
    `system_account: ${keys.system}`,
    'resolver: MEMORY',
    'resolver_preload: {',
    ...accounts.map(([account, jwt]) => `  ${account}: ${jwt}`),
    '}',
    '# s. Signing the challenge takes a busy machine longer than the default of 2 s.',
    'authorization { timeout: 10 }',
    '',
  ].join('\n');
}

/** What this version of Muster needs to be allowed. `seedBefore`: of the user's key, which it keeps. */
export async function issueServiceCredentials(
  keys: OperatorKeys,
  user: UserKind,
  seedBefore?: string,
): Promise<BusCredentials> {
  const pair = keyPair(seedBefore ?? seedOf(createUser()));
  const by = { signer: keyPair(keys.services) };
  const jwt = await encodeUser(user, pair.getPublicKey(), keys.account, claims(userPermissions(user)), by);
  return { user, seed: seedOf(pair), jwt };
}
