import { encodeAccount, encodeUser, type Account, type decode, type User } from '@nats-io/jwt';
import { createUser } from '@nats-io/nkeys';
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import { fromToken, inboxPrefix, MusterError, ServiceNames, type ServiceName, type Timer } from '#contracts';
import { natsOptions } from '../nats/connect.js';
import { dial } from '../nats/dial.js';
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
/** ms until each server of a cluster has answered, or the only one. */
const ANSWER_MS = 4_000;
/** After one answer the next comes within this, or its server is down, ms. */
const STALL_MS = 1_000;
const SMALLEST_CLUSTER = 3;
/** What a server sends in place of an answer where nobody listens. */
const NO_RESPONDERS = 503;
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
  /** Servers that a cluster has at least: who has so many answers waits for no more. @default 3 */
  replicas?: number;
}

/** Runs `work` with a connection of its own, in the server's own account. @throws MusterError BUS_UNAVAILABLE, UNAUTHORIZED */
export async function asRevoker<T>(o: RevocationOptions, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const seed = seedOf(createUser());
  const signer = keyPair(o.key.users);
  const jwt = await encodeUser(REVOKER, publicKeyOf(seed), o.key.system, {}, { signer, scopedUser: true });
  let nc: NatsConnection;
  try {
    nc = await dial({
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
        : `NATS at ${o.servers.join(', ')} cannot be reached (${(cause as Error).message})`,
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

/** How many servers there are, and how many of them have said that they refuse the keys. */
export interface RevocationReach {
  servers: number;
  told: number;
}

/**
 * Changes of the account by this process. With each the server forgets where answers go for which other accounts wait,
 * seen on 2.9.10 and 2.15.1: of what was asked before it has ended, what is answered after it has begun may be lost.
 */
const changes = { begun: 0, ended: 0 };
export const accountChanges = (): Readonly<typeof changes> => ({ ...changes });

/** Of this process: what one writes, the next has read. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Makes the users of these public keys worthless: the server ends their connections and lets them in no more, also after
 * its restart. Keys that are revoked already are left alone. The server knows no compare-and-set: of two processes that
 * revoke within the same milliseconds one may write over the other, so who must be sure asks again later. A server that
 * is down learns it from the others at its start.
 * @throws MusterError BUS_UNAVAILABLE, UNAUTHORIZED; COMMAND_FAILED where the server does not take it
 */
export function revokeAgentUsers(o: RevocationOptions, keys: readonly string[]): Promise<RevocationReach> {
  const turn = last.then(() => asRevoker(o, (nc) => revoke(nc, o, keys)));
  last = turn.catch(() => undefined);
  return turn;
}

async function revoke(nc: NatsConnection, o: RevocationOptions, keys: readonly string[]): Promise<RevocationReach> {
  const { key } = o;
  for (let i = 0; i < TRIES; i++) {
    const accounts = await accountsOf(nc, o);
    const newest = newestOf(accounts);
    const left = keys.filter((user) => accounts.some((a) => a.nats.revocations?.[user] === undefined));
    if (left.length === 0) return { servers: serversOf(nc, o), told: accounts.length };
    await laterThan(newest.iat);
    const revocations = revocationsOf(accounts);
    for (const user of left) revocations[user] = FOR_GOOD;
    const { type: _type, version: _version, ...claims } = newest.nats as Account & { type?: string; version?: number };
    const signer = keyPair(key.operator);
    const changed = await encodeAccount(newest.name, key.account, { ...claims, revocations }, { signer });
    changes.begun++;
    try {
      await update(nc, o, changed);
    } finally {
      changes.ended++;
    }
  }
  throw new MusterError('COMMAND_FAILED', 'NATS does not keep the revocation: others change its account meanwhile');
}

const newestOf = (accounts: readonly Claims<Account>[]): Claims<Account> =>
  accounts.reduce((a, b) => (b.iat > a.iat ? b : a));

/** What any of them refuses: one that was away may be behind. */
const revocationsOf = (accounts: readonly Claims<Account>[]): Record<string, number> =>
  Object.assign({}, ...accounts.map((a) => a.nats.revocations ?? {})) as Record<string, number>;

/**
 * Resolves in a later second than this one, if that is now. At its start the server takes its configuration's account
 * before what it was told of it, unless that is of a later second: a revocation in the second of a `muster init` was
 * forgotten.
 */
async function laterThan(second: number): Promise<void> {
  const now = systemClock.wallMs();
  if (Math.floor(now / 1000) === second) await systemClock.sleep((second + 1) * 1000 - now);
}

/** Which of these public keys every server refuses that answers. */
export const revokedAgentUsers = (o: RevocationOptions, keys: readonly string[]): Promise<string[]> =>
  asRevoker(o, async (nc) => {
    const accounts = await accountsOf(nc, o);
    return keys.filter((key) => accounts.every((a) => key in (a.nats.revocations ?? {})));
  });

/** Agents that are connected now to any server, each by the user that it came with. */
export async function connectedAgents(o: RevocationOptions, agents: AgentsKey): Promise<AgentConnection[]> {
  const issuer = keyPair(agents.seed).getPublicKey();
  const found = new Map<string, AgentConnection>();
  for (const { iss, name, sub, iat } of await connectedUsers(o, [o.key.account]))
    if (iss === issuer) found.set(sub, { node: fromToken(name), key: sub, issuedAt: iat * 1000 });
  return [...found.values()];
}

/** Services of which a process is connected now to any server. */
export async function connectedServices(o: RevocationOptions): Promise<ServiceName[]> {
  const names = (await connectedUsers(o, [o.key.account, ...(o.key.own ?? [])])).map((user) => user.name);
  return ServiceNames.filter((service) => names.includes(service));
}

const connectedUsers = (o: RevocationOptions, accounts: readonly string[]): Promise<Claims<User>[]> =>
  asRevoker(o, async (nc) => {
    const found: Claims<User>[] = [];
    for (const account of accounts)
      for (let offset = 0; ; offset += PAGE) {
        const pages = await userPages(nc, o, account, offset);
        found.push(
          ...pages
            .flat()
            .filter((text) => text !== '')
            .map((text) => claimsOf<User>(text)),
        );
        if (pages.every((jwts) => jwts.length < PAGE)) break;
      }
    return found;
  });

type Claims<T> = ReturnType<typeof decode<T>>;

/** Of a JWT that the server has checked: to check it once more takes JavaScript 40 ms, in which nobody else runs. */
const claimsOf = <T>(jwt: string): Claims<T> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Claims<T>;

async function accountsOf(nc: NatsConnection, o: RevocationOptions): Promise<Claims<Account>[]> {
  const answers = await asked(nc, o, SystemRequests.lookup(o.key.account), '');
  const known = answers.filter((text) => text !== '').map((text) => claimsOf<Account>(text));
  if (known.length === 0) throw new MusterError('COMMAND_FAILED', 'NATS does not know the account of Muster');
  return known;
}

async function update(nc: NatsConnection, o: RevocationOptions, jwt: string): Promise<void> {
  for (const text of await asked(nc, o, SystemRequests.update, jwt)) {
    const { error } = JSON.parse(text) as { error?: { description?: string } };
    if (error !== undefined)
      throw new MusterError(
        'COMMAND_FAILED',
        `NATS refused the revocation: ${error.description ?? 'without a reason'}`,
      );
  }
}

/** By server: of each connection its user's JWT, '' for one that has none. */
async function userPages(
  nc: NatsConnection,
  o: RevocationOptions,
  account: string,
  offset: number,
): Promise<string[][]> {
  const request = JSON.stringify({ auth: true, offset, limit: PAGE });
  return (await asked(nc, o, SystemRequests.connections(account), request)).map((text) => {
    const { data } = JSON.parse(text) as { data?: { connections?: { jwt?: string }[] } };
    return (data?.connections ?? []).map((c) => c.jwt ?? '');
  });
}

/** Its addresses do not tell: a server may have several, and announces all of them. */
const serversOf = (nc: NatsConnection, o: RevocationOptions): number =>
  nc.info?.cluster === undefined ? 1 : Math.max(SMALLEST_CLUSTER, o.replicas ?? 0);

/** The answers of all servers that give one in time. */
async function asked(nc: NatsConnection, o: RevocationOptions, subject: string, data: string): Promise<string[]> {
  const expected = serversOf(nc, o);
  const answers: string[] = [];
  const inbox = createInbox(inboxPrefix(REVOKER));
  let timer: Timer | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const endIn = (ms: number): void => {
        timer?.cancel();
        timer = systemClock.after(ms, resolve);
      };
      nc.subscribe(inbox, {
        callback: (err, msg) => {
          if (err !== null || msg.headers?.code === NO_RESPONDERS) return endIn(0);
          answers.push(msg.string());
          endIn(answers.length >= expected ? 0 : STALL_MS);
        },
      });
      endIn(ANSWER_MS);
      void nc.closed().then(reject);
      nc.publish(subject, data, { reply: inbox });
    });
  } catch (cause) {
    throw new MusterError('COMMAND_FAILED', `NATS gave no answer to ${subject}`, { subject }, { cause });
  } finally {
    timer?.cancel();
  }
  if (answers.length === 0) throw new MusterError('COMMAND_FAILED', `NATS gave no answer to ${subject}`, { subject });
  return answers;
}
