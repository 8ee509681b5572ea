import {
  Subjects,
  type BucketName,
  type Clock,
  type EventKind,
  type EventMap,
  type MusterEvent,
  type Random,
  type RpcAnswer,
  type RpcRequest,
  type RpcVerb,
  type StreamFacts,
  type Verdict,
} from '#contracts';
import { answer, answerText, ask, call } from '../rpc/call.js';
import { answerReadings } from '../rpc/read-gate.js';
import { DurableConsumer, removeDurable, type Delivery, type DurableOptions } from '../streams/durable-consumer.js';
import { readBack, type PastEvent, type ReadBackOptions } from '../streams/read-back.js';
import { readOn, type ReadOn, type ReadOnOptions } from '../streams/read-on.js';
import { Follow, type FollowHandler, type FollowOptions } from '../streams/follow.js';
import { lastUntil, type LastUntil } from '../streams/last-until.js';
import { JobLogs, type LogChunk, type ReadLogOptions } from '../streams/job-log.js';
import { KvBucket } from '../kv/kv-bucket.js';
import type { UnreadableBook } from '../ports/unreadable-book.js';
import { connectPorts } from '../nats/connect.js';
import { Link, type BusPorts } from '../ports/link.js';
import type { Pulses } from '../pulse/pulses.js';
import type { ServerInfo, Wire, WireStatus } from '../ports/wire.js';
import { store } from '../streams/store.js';
import {
  bucketFacts,
  createStorage,
  hasStream,
  streamFacts,
  type BucketFacts,
  type StorageOptions,
} from '../streams/storage.js';
import { eventStorage, keepVerdicts, type EventStorage } from '../streams/verdict-storage.js';
import type { BusLog, BusOptions, Closable } from '../ports/types.js';

/** A key may be what a person typed; in a subject, blanks and wildcards would be something else. */
const subjectKey = (key: string): string => key.replaceAll(/[\s*>]/g, '_') || '_';

/** BUS_UNAVAILABLE when no server answers in time, UNAUTHORIZED when it refuses the user. */
export async function connectBus(o: BusOptions): Promise<Bus> {
  return new Bus(await connectPorts(o));
}

/** Everything that a service says or hears: records, durable events, requests, job logs. */
export class Bus {
  private readonly buckets = new Map<BucketName, KvBucket<unknown>>();
  private readonly link: Link;
  private readonly logs: JobLogs;
  private answersReadings = false;

  constructor(ports: BusPorts) {
    this.link = new Link(ports);
    this.logs = new JobLogs(this.link);
  }

  /** Core NATS as it is, for who answers in an envelope of its own. */
  get wire(): Wire {
    return this.link.wire;
  }

  get name(): string {
    return this.link.name;
  }

  /** This process's own; see {@link Clock}. */
  get clock(): Clock {
    return this.link.clock;
  }

  /** Never for a secret; see {@link Random}. */
  get random(): Random {
    return this.link.random;
  }

  get log(): BusLog {
    return this.link.log;
  }

  /** Known within 3 s of a silent cut: two pings, 1 s apart. */
  get connected(): boolean {
    return this.link.connected;
  }

  /** Of the server that it is or was last connected to. */
  get serverInfo(): ServerInfo | undefined {
    return this.link.wire.serverInfo;
  }

  onStatus(fn: (s: WireStatus) => void): () => void {
    return this.link.onStatus(fn);
  }

  /** Records that this process has met and cannot read: they are left out wherever buckets are followed. */
  get unreadable(): UnreadableBook {
    return this.link.unreadable;
  }

  /** Of this process's tasks that must not stand still: its leases. */
  get pulses(): Pulses {
    return this.link.pulses;
  }

  /** Leases by fixed names that this process contends for, and whether each is held now. */
  readonly contended = new Map<string, () => boolean>();

  /** A handle; the bucket itself may still have to be created (by inventory): its operations wait for that. */
  bucket<T>(name: BucketName): KvBucket<T> {
    let bucket = this.buckets.get(name);
    if (!bucket) this.buckets.set(name, (bucket = new KvBucket<unknown>(this.link, name)));
    return bucket as KvBucket<T>;
  }

  /**
   * Creates the streams and buckets that are missing. CONFIG_INVALID where one exists with another shape,
   * BUS_UNAVAILABLE where no server answers for one in time. From then on services with NATS accounts of their own
   * have their readings of them through here.
   */
  async createBuckets(o: StorageOptions = {}): Promise<void> {
    await createStorage(this.link, o);
    if (!this.answersReadings) answerReadings(this.link);
    this.answersReadings = true;
  }

  /** When each bucket was made, and the last revision in it; undefined: it is not there. */
  bucketFacts(): Promise<Map<BucketName, BucketFacts | undefined>> {
    return bucketFacts(this.link);
  }

  /** When each bucket was made; undefined: it is not there. */
  async bucketBirths(): Promise<Map<BucketName, Date | undefined>> {
    return new Map([...(await this.bucketFacts())].map(([bucket, facts]) => [bucket, facts?.created]));
  }

  /** Whether the server knows a stream that this user may ask for. Rejects where its store does not answer. */
  hasStream(name: string): Promise<boolean> {
    return hasStream(this.link, name);
  }

  /** Where the copies of every stream and bucket are. Rejects where the store does not answer, or lacks one. */
  streamFacts(): Promise<StreamFacts[]> {
    return streamFacts(this.link);
  }

  /** Core NATS: who is not there misses it. Dropped without a connection. */
  publish(subject: string, value: unknown): void {
    this.link.wire.publish(subject, JSON.stringify(value));
  }

  /** Resolves when the server has taken all that was published and subscribed so far. */
  flushed(): Promise<void> {
    return this.link.wire.flush();
  }

  /** Core NATS. */
  subscribe(subject: string, fn: (text: string, subject: string) => void, o: { queue?: string } = {}): Closable {
    const sub = this.link.wire.subscribe(subject, {
      ...o,
      onRefused: (err) => this.log.error({ err, subject }, 'cannot listen on this subject'),
      onMessage: (msg) => {
        try {
          fn(msg.text, msg.subject);
        } catch (e) {
          this.log.error({ err: e, subject: msg.subject }, 'a listener failed');
        }
      },
    });
    return {
      close: () => {
        sub.close();
        return Promise.resolve();
      },
    };
  }

  /** Plain JSON request, answered by {@link answer} or by an outside tool. Errors as in {@link call}. */
  ask<A>(subject: string, request: unknown, o: { timeoutMs?: number } = {}): Promise<A> {
    return ask<A>(this.link, subject, request, o.timeoutMs ?? 1000);
  }

  /** Answers plain JSON requests; a thrown MusterError travels to the asker. */
  answer<Q, A>(
    subject: string,
    fn: (request: Q, subject: string) => Promise<A> | A,
    o: { queue?: string } = {},
  ): Closable {
    return answer(this.link, subject, fn, o);
  }

  /** The same for a handler that reads the text itself, and so also hears what is no JSON. */
  answerText<A>(
    subject: string,
    fn: (text: string, subject: string) => Promise<A> | A,
    o: { queue?: string } = {},
  ): Closable {
    return answerText(this.link, subject, fn, o);
  }

  /**
   * RPC of a service. Rejects with the service's own MusterError, or NO_RESPONDER (no replica), TIMEOUT (it may have
   * been done all the same), BUS_UNAVAILABLE (at once, without a connection).
   */
  call<V extends RpcVerb>(verb: V, request: RpcRequest<V>, o: { timeoutMs?: number } = {}): Promise<RpcAnswer<V>> {
    return call(this.link, verb, request, o.timeoutMs ?? 2000);
  }

  /** Durable. Two with the same `id` within two minutes are one. */
  async emit<K extends EventKind>(kind: K, key: string, data: EventMap[K], o: { id?: string } = {}): Promise<void> {
    const id = o.id ?? this.random.uuid();
    const event: MusterEvent<K> = { id, kind, key, at: this.clock.wallMs(), source: this.name, data };
    await store(this.link, Subjects.event(kind, subjectKey(key)), JSON.stringify(event), { id });
  }

  /** Durable; one per (epoch, seq). */
  async publishVerdict(v: Verdict): Promise<void> {
    await store(this.link, Subjects.verdict(v.node), JSON.stringify(v), { id: `verdict.${v.epoch}.${v.seq}` });
  }

  /**
   * A durable consumer of verdicts and events, shared by all who name it. What `fn` throws brings the message back, a
   * little later each time; at the fifth refusal it becomes a `dead-letter` event.
   */
  consume(
    durable: string,
    filters: string[],
    fn: (subject: string, value: unknown, meta: Delivery) => Promise<void>,
    o: Pick<DurableOptions, 'newOnly' | 'oneAtATime'> = {},
  ): Closable {
    return new DurableConsumer(this.link, {
      ...o,
      durable,
      filters,
      handle: fn,
      deadLetter: async (letter) => {
        // A consumer that cannot take its own dead letters would write them for ever.
        if (letter.subject.startsWith('muster.event.dead-letter.')) return;
        await this.emit(
          'dead-letter',
          durable,
          { consumer: durable, ...letter },
          { id: `dead.${durable}.${letter.seq}` },
        );
      },
    });
  }

  /** Forgets a durable consumer, and what it has not delivered; one that does not exist is as good. */
  removeConsumer(durable: string): Promise<void> {
    return removeDurable(this.link, durable);
  }

  /** Ordered reader of verdicts and events, for one reader alone; each message once, also across lost connections. */
  follow(filters: string[], o: FollowOptions, fn: FollowHandler): Closable {
    return new Follow(this.link, filters, o, fn);
  }

  /** How much of the stream of verdicts and events is used, and by which nodes' verdicts. */
  eventStorage(): Promise<EventStorage> {
    return eventStorage(this.link);
  }

  /** Drops verdicts but for the newest so many, of one node or, with `*`, of all together. */
  keepVerdicts(node: string, keep: number): Promise<void> {
    return keepVerdicts(this.link, node, keep);
  }

  /** Where a subject of verdicts or events stood at a moment. */
  lastUntil(subject: string, until: Date): Promise<LastUntil> {
    return lastUntil(this.link, subject, until);
  }

  /** Verdicts and events that are stored, newest first, page by page. */
  readBack(filters: readonly string[], o: ReadBackOptions): Promise<{ items: PastEvent[]; next?: number }> {
    return readBack(this.link, filters, o);
  }

  /** Verdicts and events that are stored, in their order, page by page. */
  readOn(filters: readonly string[], o: ReadOnOptions): Promise<ReadOn> {
    return readOn(this.link, filters, o);
  }

  /** In the order of the calls. */
  appendLog(job: string, text: string): Promise<void> {
    return this.logs.append(job, text);
  }

  /** Marks the end: who follows the log stops there. */
  endLog(job: string): Promise<void> {
    return this.logs.end(job);
  }

  readLog(job: string, o: ReadLogOptions = {}): AsyncIterable<LogChunk> {
    return this.logs.read(job, o);
  }

  close(): Promise<void> {
    return this.link.wire.close();
  }
}
