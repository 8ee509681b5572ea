import { encodeAccount, encodeUser, type Account, type decode, type User } from '@nats-io/jwt';
import { createUser } from '@nats-io/nkeys';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { fromToken, inboxPrefix, MusterError } from '#contracts';
import { natsOptions } from '../nats/connect.js';
import { systemClock } from '../system/system-clock.js';
import type { AgentsKey } from './agents-key.js';
import { tlsFault } from '#contracts/keys/nats-tls.js';
import { keyPair, proofOf, publicKeyOf, seedOf } from '#contracts/keys/nkey.js';
import { REVOKER, SystemRequests, type RevokerKey } from './revoker-key.js';

/**
 * A key that was revoked is never used again, so all that was ever signed for it is void, whatever the clocks were that
 * it was signed by: s, 2100-01-01.
 */
export const FOR_GOOD = 4_102_444_800;
/** ms for one request to the server. */
const ANSWER_MS = 4_000;
/** Others may revoke at the same moment, and write over what was written: then it is written again. */
const TRIES = 5;
/** Connections that are asked for at once; the answer holds each one's user. */
const PAGE = 256;

/** A user of an agent, as the server shows it. */
export interface AgentConnection {
  node: string;
  /** Public key of the user. */
  key: string;
  /** When it was signed, by its signer's wall clock: ms, of whole seconds. */
  issuedAt: number;
}

export interface RevocationOptions {
  key: RevokerKey;
  servers: readonly string[];
  /** PEM: the CA of the servers' certificates. @default no TLS */
  ca?: string;
}

/** Runs `work` with a connection of its own, in the server's own account. @throws MusterError BUS_UNAVAILABLE, UNAUTHORIZED */
async function asRevoker<T>(o: RevocationOptions, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const seed = seedOf(createUser());
  const signer = keyPair(o.key.users);
  const jwt = await encodeUser(REVOKER, publicKeyOf(seed), o.key.system, {}, { signer, scopedUser: true });
  let nc: NatsConnection;
  try {
    nc = await connect({
      ...natsOptions({ name: REVOKER, servers: [...o.servers], ...(o.ca !== undefined && { ca: o.ca }) }),
      authenticator: proofOf({ jwt, seed }),
      inboxPrefix: inboxPrefix(REVOKER),
      reconnect: false,
    });
  } catch (cause) {
    const fault = tlsFault(cause, o.ca);
    if (fault !== undefined)
      throw new MusterError('UNAUTHORIZED', `NATS at ${o.servers.join(', ')}: ${fault}`, {}, { cause });
    const refused = /authorization/i.test((cause as Error).message);
    throw new MusterError(
      refused ? 'UNAUTHORIZED' : 'BUS_UNAVAILABLE',
      refused
        ? 'NATS does not know the key of revocations: it has to be started anew after muster init'
        : 'NATS cannot be reached for a revocation',
      {},
      { cause },
    );
  }
  try {
    return await work(nc);
  } finally {
    await nc.close();
  }
}

/** Of this process: what one writes, the next has read. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Makes the users of these public keys worthless: the server ends their connections and lets them in no more, also after
 * its restart. Keys that are revoked already are left alone. The server knows no compare-and-set: of two processes that
 * revoke within the same milliseconds one may write over the other, so who must be sure asks again later.
 * @throws MusterError BUS_UNAVAILABLE, UNAUTHORIZED; COMMAND_FAILED where the server does not take it
 */
export function revokeAgentUsers(o: RevocationOptions, keys: readonly string[]): Promise<void> {
  const turn = last.then(() => asRevoker(o, (nc) => revoke(nc, o.key, keys)));
  last = turn.catch(() => undefined);
  return turn;
}

async function revoke(nc: NatsConnection, key: RevokerKey, keys: readonly string[]): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    const account = await accountOf(nc, key.account);
    const left = keys.filter((user) => account.nats.revocations?.[user] === undefined);
    if (left.length === 0) return;
    await laterThan(account.iat);
    const revocations = { ...account.nats.revocations };
    for (const user of left) revocations[user] = FOR_GOOD;
    const { type: _type, version: _version, ...claims } = account.nats as Account & { type?: string; version?: number };
    const signer = keyPair(key.operator);
    await update(nc, await encodeAccount(account.name, key.account, { ...claims, revocations }, { signer }));
  }
  throw new MusterError('COMMAND_FAILED', 'NATS does not keep the revocation: others change its account meanwhile');
}

/**
 * Resolves in a later second than this one, if that is now. At its start the server takes its configuration's account
 * before what it was told of it, unless that is of a later second: a revocation in the second of a `muster init` was
 * forgotten.
 */
async function laterThan(second: number): Promise<void> {
  const now = systemClock.wallMs();
  if (Math.floor(now / 1000) === second) await systemClock.sleep((second + 1) * 1000 - now);
}

/** Which of these public keys the server refuses. */
export const revokedAgentUsers = (o: RevocationOptions, keys: readonly string[]): Promise<string[]> =>
  asRevoker(o, async (nc) => {
    const { revocations = {} } = (await accountOf(nc, o.key.account)).nats;
    return keys.filter((key) => key in revocations);
  });

/** Agents that are connected now, each by the user that it came with. */
export const connectedAgents = (o: RevocationOptions, agents: AgentsKey): Promise<AgentConnection[]> =>
  asRevoker(o, async (nc) => {
    const issuer = keyPair(agents.seed).getPublicKey();
    const found = new Map<string, AgentConnection>();
    for (let offset = 0; ; offset += PAGE) {
      const jwts = await userPage(nc, o.key.account, offset);
      for (const jwt of jwts.filter((text) => text !== '')) {
        const { iss, name, sub, iat } = claimsOf<User>(jwt);
        if (iss === issuer) found.set(sub, { node: fromToken(name), key: sub, issuedAt: iat * 1000 });
      }
      if (jwts.length < PAGE) return [...found.values()];
    }
  });

type Claims<T> = ReturnType<typeof decode<T>>;

/** Of a JWT that the server has checked: to check it once more takes JavaScript 40 ms, in which nobody else runs. */
const claimsOf = <T>(jwt: string): Claims<T> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Claims<T>;

async function accountOf(nc: NatsConnection, account: string): Promise<Claims<Account>> {
  const answer = await asked(nc, SystemRequests.lookup(account), '');
  if (answer === '') throw new MusterError('COMMAND_FAILED', 'NATS does not know the account of Muster');
  return claimsOf<Account>(answer);
}

async function update(nc: NatsConnection, jwt: string): Promise<void> {
  const { error } = JSON.parse(await asked(nc, SystemRequests.update, jwt)) as { error?: { description?: string } };
  if (error !== undefined)
    throw new MusterError('COMMAND_FAILED', `NATS refused the revocation: ${error.description ?? 'without a reason'}`);
}

/** Of each connection its user's JWT, '' for one that has none. Every server of a cluster answers. */
async function userPage(nc: NatsConnection, account: string, offset: number): Promise<string[]> {
  const request = JSON.stringify({ auth: true, offset, limit: PAGE });
  const { data } = JSON.parse(await asked(nc, SystemRequests.connections(account), request)) as {
    data?: { connections?: { jwt?: string }[] };
  };
  return (data?.connections ?? []).map((c) => c.jwt ?? '');
}

async function asked(nc: NatsConnection, subject: string, data: string): Promise<string> {
  try {
    return (await nc.request(subject, data, { timeout: ANSWER_MS })).string();
  } catch (cause) {
    throw new MusterError('COMMAND_FAILED', `NATS gave no answer to ${subject}`, { subject }, { cause });
  }
}
