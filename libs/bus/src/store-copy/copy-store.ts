import { join } from 'node:path';
import type { StreamInfo } from '@nats-io/jetstream';
import { encodeUser } from '@nats-io/jwt';
import { createUser } from '@nats-io/nkeys';
import { createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { Buckets, inboxPrefix, MusterError, STORE_GENERATION_KEY, type StoreGeneration, type Timer } from '#contracts';
import { proofOf, keyPair, publicKeyOf, seedOf } from '#contracts/keys/nkey.js';
import { connectBus, type Bus } from '../bus/bus.js';
import { credentialsFile, readOperatorKeys } from '../init/init-cluster.js';
import { connectedServices } from '../init/revocation.js';
import { readRevokerKey } from '../init/revoker-key.js';
import { authorityOf } from '../init/tls-files.js';
import { readCredentials } from '../keys/credentials.js';
import { bucketStream } from '../store-names/kv-keys.js';
import { natsOptions } from '../nats/connect.js';
import { dial } from '../nats/dial.js';
import { apiError, ApiFailure, isStreamMissing } from '../ports/log-failure.js';
import { wantedStreams } from '../streams/storage.js';
import { systemClock } from '../system/system-clock.js';
import { BUCKET_BIRTHS_KEY, carriedBirths, type BucketBirths } from './carried-births.js';
import { GenerationFile } from './generation-file.js';
import { nextGeneration } from './next-generation.js';
import { SavedStore, type SavedStream } from './saved-store.js';

const USER = 'store-copy';
/** Of one request, ms: a server that makes or takes a stream writes files meanwhile. */
const ANSWER_MS = 10_000;
/** Of one piece, ms. */
const PIECE_MS = 10_000;
/** nats-server's own default for what it hands out. */
const PIECE_BYTES = 128 * 1024;
/** Until the other servers have their copies, ms. */
const COPIES_MS = 120_000;
/** Whoever runs this may be at it for so long, s. */
const USER_LASTS_S = 3600;

export interface StoreCopyOptions {
  /** Folder of `muster init`, with `keys/operator.key`. */
  dir: string;
  servers: readonly string[];
  /** Told after each stream, and waited for. */
  onStream?: (name: string, messages: number) => void | Promise<void>;
}

/** Of a store that is of an earlier moment than now. */
export interface NewGeneration {
  /** Its last write. ISO. */
  copied: string;
  /** Now. ISO. */
  at: string;
}

export interface NewGenerationOptions extends StoreCopyOptions {
  /** What else is written into a store before it goes on as a generation of its own. */
  begin?: (bus: Bus, of: NewGeneration) => Promise<void>;
}

/**
 * Copies all that Muster keeps in NATS into a new folder: streams and buckets, with their revisions and times. NATS runs,
 * and no service does, so that what is copied is of one moment.
 * @throws MusterError CONFIG_INVALID: services are connected, before the copy or after it, or the folder is not empty;
 * BUS_UNAVAILABLE, UNAUTHORIZED, COMMAND_FAILED
 */
export async function saveStore(folder: string, o: StoreCopyOptions): Promise<void> {
  await refuseServices(o);
  const saved = SavedStore.create(folder);
  await asOwner(o, async (nc) => {
    const streams = new Map<string, SavedStream>();
    for (const { name } of wantedStreams(1)) {
      const info = await infoOf(nc, name);
      if (info === undefined) continue;
      const stream = { ...(await saveStream(nc, name, saved)), created: info.created };
      streams.set(name, stream);
      await o.onStream?.(name, stream.state.messages);
    }
    if (streams.size === 0)
      throw new MusterError('CONFIG_INVALID', `NATS at ${o.servers.join(', ')} keeps nothing of Muster`);
    // One that came meanwhile may have written to what was copied already, or not yet.
    await refuseServices(o);
    saved.finish(streams);
  });
}

/**
 * The way back, into a NATS that keeps nothing of Muster yet: one server or several. What is there then is a generation
 * of its own: its tokens are above all that were ever given, and an alarm says so until somebody has acknowledged it.
 * @param replicas copies of each stream from now on
 * @throws MusterError CONFIG_INVALID: a stream is there already, or the folder holds none; BUS_UNAVAILABLE, UNAUTHORIZED,
 * COMMAND_FAILED: then NATS has to begin anew with an empty store
 */
export async function loadStore(folder: string, replicas: number, o: NewGenerationOptions): Promise<void> {
  const saved = SavedStore.open(folder);
  const { streams } = saved;
  await refuseServices(o);
  await asOwner(o, async (nc) => {
    for (const { name } of wantedStreams(1))
      if ((await infoOf(nc, name)) !== undefined)
        throw new MusterError(
          'CONFIG_INVALID',
          `NATS keeps ${name} already, and nothing is written over it: begin with an empty store`,
        );
    for (const [name, stream] of streams) {
      await loadStream(nc, name, { ...stream, config: { ...stream.config, num_replicas: replicas } }, saved);
      await o.onStream?.(name, stream.state.messages);
    }
    for (const name of streams.keys()) await copied(nc, name, replicas);
  });
  await asInventory(o, async (bus) => {
    await beginGeneration(bus, saved.lastWrite, o);
    await carryBirths(bus, streams);
  });
}

/**
 * The same for a store whose files were put back into the folder of NATS by hand: it begins a generation of its own, too.
 * @returns which moment it is of
 * @throws MusterError CONFIG_INVALID: services are connected, or NATS keeps nothing of Muster; BUS_UNAVAILABLE, UNAUTHORIZED
 */
export async function restoredStore(o: NewGenerationOptions): Promise<NewGeneration> {
  await refuseServices(o);
  let copied = 0;
  await asOwner(o, async (nc) => {
    for (const { name } of wantedStreams(1)) {
      const written = (await infoOf(nc, name))?.state.last_ts;
      if (written !== undefined) copied = Math.max(copied, Date.parse(written));
    }
  });
  if (copied <= 0) throw new MusterError('CONFIG_INVALID', `NATS at ${o.servers.join(', ')} keeps nothing of Muster`);
  return asInventory(o, (bus) => beginGeneration(bus, copied, o));
}

async function asInventory<T>(o: StoreCopyOptions, work: (bus: Bus) => Promise<T>): Promise<T> {
  const credentials = readCredentials(credentialsFile(o.dir, 'inventory'));
  const bus = await connectBus({ name: USER, servers: [...o.servers], credentials });
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}

/** In the folder of `muster init` first: a load that ends half-way is never taken for the one after it. */
async function beginGeneration(bus: Bus, copied: number, { dir, begin }: NewGenerationOptions): Promise<NewGeneration> {
  const file = new GenerationFile(dir);
  const wallMs = systemClock.wallMs();
  const settings = bus.bucket<StoreGeneration>('settings');
  const there = await settings.read(STORE_GENERATION_KEY);
  const inCopy = there !== undefined && 'value' in there ? there.value : undefined;
  const at = new Date(wallMs).toISOString();
  // Services have written since they found it: it is of before that all the same.
  const until = inCopy?.loaded?.found === true ? inCopy.loaded.copied : new Date(copied).toISOString();
  await begin?.(bus, { copied: until, at });
  const generation = nextGeneration({ known: [inCopy?.generation ?? 0, file.read()], copied, wallMs });
  file.write(generation);
  await settings.mutate(STORE_GENERATION_KEY, () => ({ generation, loaded: { copied: until, at } }), {
    overUnreadable: true,
  });
  return { copied: until, at };
}

/** Else each bucket would look as if it had been lost and made anew. */
async function carryBirths(bus: Bus, streams: ReadonlyMap<string, SavedStream>): Promise<void> {
  const saved = Buckets.flatMap((bucket): [string, Date][] => {
    const created = streams.get(bucketStream(bucket))?.created;
    return created === undefined ? [] : [[bucket, new Date(created)]];
  });
  const loaded = await bus.bucketBirths();
  await bus
    .bucket<BucketBirths>('settings')
    .mutate(BUCKET_BIRTHS_KEY, (now) => carriedBirths(now?.value, new Map(saved), loaded));
}

async function refuseServices(o: StoreCopyOptions): Promise<void> {
  const key = readRevokerKey(join(o.dir, 'keys', 'revoker.key'));
  const running = await connectedServices({ key, servers: o.servers, ...withAuthority(o) }).catch((e: unknown) => {
    throw MusterError.from(e).code === 'BUS_UNAVAILABLE' ? unreachable(o, e) : e;
  });
  if (running.length > 0)
    throw new MusterError(
      'CONFIG_INVALID',
      `${running.join(', ')} ${running.length > 1 ? 'are' : 'is'} connected to NATS: stop the services on every control host first, and leave NATS running`,
    );
}

/** Whoever stopped all of it, or runs this elsewhere, has to know what is to run, and from where. */
const unreachable = ({ servers }: StoreCopyOptions, cause: unknown): MusterError =>
  new MusterError(
    'BUS_UNAVAILABLE',
    `NATS at ${servers.join(', ')} cannot be reached from here, and nothing was done: NATS alone has to run, without the ` +
      'services; run this on a control machine, or name an address by which it is reached from here: --nats',
    {},
    { cause },
  );

const withAuthority = ({ dir }: StoreCopyOptions): { ca?: string } => {
  const ca = authorityOf(dir);
  return ca === undefined ? {} : { ca };
};

/** With a user of this moment, which may read and write whole streams; no service's may. */
async function asOwner<T>(o: StoreCopyOptions, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const keys = readOperatorKeys(o.dir);
  const seed = seedOf(createUser());
  const api = ['INFO', 'SNAPSHOT', 'RESTORE'].map((verb) => `$JS.API.STREAM.${verb}.*`);
  const pub = { allow: [...api, '$JS.SNAPSHOT.RESTORE.>', '$JS.SNAPSHOT.ACK.>'] };
  const jwt = await encodeUser(
    USER,
    publicKeyOf(seed),
    keys.account,
    { pub, sub: { allow: [`${inboxPrefix(USER)}.>`] } },
    { signer: keyPair(keys.services), exp: Math.floor(systemClock.wallMs() / 1000) + USER_LASTS_S },
  );
  let nc: NatsConnection;
  try {
    nc = await dial({
      ...natsOptions({ name: USER, servers: [...o.servers], ...withAuthority(o) }),
      authenticator: proofOf({ jwt, seed }),
      inboxPrefix: inboxPrefix(USER),
      reconnect: false,
    });
  } catch (cause) {
    throw unreachable(o, cause);
  }
  try {
    return await work(nc);
  } catch (e) {
    throw apiError(e, 'the store of NATS');
  } finally {
    await nc.close();
  }
}

async function infoOf(nc: NatsConnection, name: string): Promise<StreamInfo | undefined> {
  try {
    return await api<StreamInfo>(nc, `STREAM.INFO.${name}`);
  } catch (e) {
    if (isStreamMissing(e)) return undefined;
    throw e;
  }
}

async function saveStream(
  nc: NatsConnection,
  name: string,
  saved: SavedStore,
): Promise<Pick<SavedStream, 'config' | 'state'>> {
  const inbox = createInbox(inboxPrefix(USER));
  const pieces = nc.subscribe(inbox);
  const stream = await api<SavedStream>(nc, `STREAM.SNAPSHOT.${name}`, {
    deliver_subject: inbox,
    no_consumers: false,
    chunk_size: PIECE_BYTES,
    jsck: true,
  });
  await saved.writeContent(name, received(pieces, name));
  return { config: stream.config, state: stream.state };
}

/** The server sends the next pieces as these are acknowledged; an empty one is the last. */
async function* received(
  pieces: AsyncIterable<Msg> & { unsubscribe(): void },
  name: string,
): AsyncIterable<Uint8Array> {
  const next = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const piece = await within(next.next(), PIECE_MS, `NATS sends no more of ${name}`);
      if (piece.done === true) throw new MusterError('BUS_UNAVAILABLE', `the connection to NATS ended within ${name}`);
      const { data, headers } = piece.value;
      if (data.length === 0) {
        if (headers !== undefined && headers.code >= 400)
          throw new MusterError('COMMAND_FAILED', `NATS could not hand out ${name}: ${headers.description}`);
        return;
      }
      yield data;
      piece.value.respond();
    }
  } finally {
    pieces.unsubscribe();
  }
}

async function loadStream(nc: NatsConnection, name: string, stream: SavedStream, saved: SavedStore): Promise<void> {
  const { deliver_subject: to } = await api<{ deliver_subject: string }>(nc, `STREAM.RESTORE.${name}`, {
    config: stream.config,
    state: stream.state,
  });
  for await (const piece of saved.readContent(name, PIECE_BYTES)) {
    const answer = await ask(nc, to, piece, PIECE_MS);
    if (answer.data.length > 0) answerOf(answer);
  }
  const { state } = answerOf<StreamInfo>(await ask(nc, to, new Uint8Array(), COPIES_MS));
  // What an empty one would begin with is told in more than one way.
  const fields = ['messages', 'last_seq', ...(stream.state.messages > 0 ? ['first_seq' as const] : [])] as const;
  const wrong = fields.find((field) => state[field] !== stream.state[field]);
  if (wrong !== undefined)
    throw new MusterError(
      'COMMAND_FAILED',
      `NATS has made ${name} with ${wrong} ${state[wrong]} instead of ${stream.state[wrong]}: begin anew with an empty store`,
    );
}

/** Resolves when every copy of it is whole. */
async function copied(nc: NatsConnection, name: string, replicas: number): Promise<void> {
  const deadline = systemClock.monotonicMs() + COPIES_MS;
  for (;;) {
    const cluster = (await infoOf(nc, name))?.cluster;
    const current = (cluster?.replicas ?? []).filter((r) => r.current && r.offline !== true).length;
    const hasLeader = replicas === 1 || (cluster?.leader ?? '') !== '';
    if (hasLeader && current >= replicas - 1) return;
    if (systemClock.monotonicMs() > deadline)
      throw new MusterError('COMMAND_FAILED', `${name} has ${current + 1} of ${replicas} copies after 120 s`);
    await systemClock.sleep(200);
  }
}

async function api<T>(nc: NatsConnection, verb: string, body?: unknown): Promise<T> {
  const text = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body));
  return answerOf<T>(await ask(nc, `$JS.API.${verb}`, text, ANSWER_MS));
}

async function ask(nc: NatsConnection, subject: string, data: Uint8Array, timeout: number): Promise<Msg> {
  try {
    return await nc.request(subject, data, { timeout });
  } catch (cause) {
    throw new MusterError('COMMAND_FAILED', `NATS does not answer ${subject}`, { subject }, { cause });
  }
}

function answerOf<T>(msg: Msg): T {
  const answer = msg.json<T & { error?: { code: number; err_code?: number; description: string } }>();
  if (answer.error) throw new ApiFailure(answer.error.err_code ?? 0, answer.error.code, answer.error.description);
  return answer;
}

async function within<T>(work: Promise<T>, ms: number, why: string): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = systemClock.after(ms, () => reject(new MusterError('COMMAND_FAILED', `${why} after ${ms / 1000} s`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer?.cancel();
  }
}
