import { MusterError } from '#contracts';
import { ApiErrors, ApiFailure } from '#bus/ports/log-failure.js';
import type { AppendOptions, Appended, ConsumerConfig, StreamConfig } from '#bus/ports/message-log.js';
import type { ServerInfo } from '#bus/ports/wire.js';
import { NS_PER_MS, type VirtualTime } from '../time/virtual-time.js';
import { PlayedDurable } from './played-durable.js';
import { PlayedFaults } from './played-faults.js';
import { PlayedStream } from './played-stream.js';
import { isLiteral, matcher } from './subject-match.js';

/**
 * Servers differ, and the contract spec says where:
 * - a message with a known id whose expectation no longer holds is a duplicate for 2.9, and a conflict for 2.15;
 * - who asks a durable consumer that is not there hears nothing from 2.9, and is refused at once by 2.15.
 */
export type PlayedVersion = '2.9.10' | '2.15.1';

export interface PlayedServerOptions {
  /** @default 2.15.1 */
  version?: PlayedVersion;
  /** A cluster's servers say so, and leases then live longer. @default single */
  cluster?: string;
  /** Its wall clock when the world began. @default 2026-01-01 */
  wallMs?: number;
  /** What is younger may be lost by a restart, ms; 0: nothing is, as with `sync_interval: always`. @default 120000 */
  syncMs?: number;
  faults?: PlayedFaults;
  /** Told of each message that a stream has taken, for who judges. */
  stored?: (stream: string, subject: string, payload: Uint8Array | string, seq: number, from: Sender) => void;
  /** Told of each message that was refused: another one was there already. */
  refused?: (stream: string, subject: string, from: Sender) => void;
}

/** Who has sent a message, and when: it may come late. */
export interface Sender {
  client: string;
  /** ms of virtual time. */
  sentMs: number;
}

export interface RestartOptions {
  /** Until it listens again, ms. */
  downMs: number;
  /** The newest messages that each stream loses, of those that are not synced; `drawn`: of each stream as chance has it. @default none */
  lost?: Readonly<Record<string, number>> | 'drawn';
  /** For so long it listens, but the streams do not answer yet, ms. @default 0 */
  streamsAwayMs?: number;
}

/** Somebody who listens to core NATS. */
export interface Interest {
  readonly subject: string;
  readonly queue: string | undefined;
  deliver(subject: string, text: string, reply: string | undefined): void;
}

/** A connection, as the server needs it. */
export interface ServerClient {
  break(o: { carried: boolean }): void;
  /** An answer to its request has reached the server. */
  answered(reply: string, text: string): void;
}

/** A reading of a stream, as the server needs it. */
export interface ServerSession {
  /** There may be something to send. */
  stored(): void;
  /** The server has no such session any more. */
  vanish(): void;
}

interface Route {
  all: Interest[];
  groups: Interest[][];
}

const WALL_MS = Date.UTC(2026, 0, 1);
const DEFAULTS: Omit<StreamConfig, 'name' | 'subjects'> = {
  retention: 'limits',
  max_consumers: -1,
  max_msgs_per_subject: -1,
  max_msgs: -1,
  max_age: 0,
  max_bytes: -1,
  max_msg_size: -1,
  discard: 'old',
  storage: 'file',
  num_replicas: 1,
  duplicate_window: 120_000 * NS_PER_MS,
  sealed: false,
  deny_delete: false,
  deny_purge: false,
  allow_rollup_hdrs: false,
  allow_direct: false,
  mirror_direct: false,
  discard_new_per_subject: false,
  first_seq: 0,
  no_ack: false,
} as unknown as Omit<StreamConfig, 'name' | 'subjects'>;

/**
 * A nats-server in virtual time, as the ports see it: what it does is held against real servers by one contract spec.
 * Not played: messages of core NATS that a stream takes in, limits of age, permissions, clusters.
 */
export class PlayedServer {
  readonly version: PlayedVersion;
  readonly info: ServerInfo;
  readonly faults: PlayedFaults;
  private readonly wallMs: number;
  private readonly syncMs: number;
  private readonly clients = new Map<string, ServerClient>();
  private readonly streams = new Map<string, PlayedStream>();
  private readonly durables = new Map<string, Map<string, PlayedDurable>>();
  private readonly sessions = new Map<string, Set<ServerSession>>();
  private readonly interests = new Set<Interest>();
  private readonly routes = new Map<string, Route>();
  private readonly takers = new Map<string, PlayedStream>();
  private listening = true;
  private streamsFromNs = 0;
  private calls = 0;

  constructor(
    readonly time: VirtualTime,
    private readonly o: PlayedServerOptions = {},
  ) {
    this.version = o.version ?? '2.15.1';
    this.info = { version: this.version, connectUrls: [], ...(o.cluster !== undefined && { cluster: o.cluster }) };
    this.faults = o.faults ?? new PlayedFaults();
    this.wallMs = o.wallMs ?? WALL_MS;
    this.syncMs = o.syncMs ?? 120_000;
  }

  /** It takes connections. */
  get up(): boolean {
    return this.listening;
  }

  get nowMs(): number {
    return Math.floor(this.wallMs + this.time.nowMs);
  }

  /** One of a new life of a process takes the old one's place. */
  addClient(name: string, client: ServerClient): void {
    this.clients.set(name, client);
  }

  /** kill -9, or a power failure, and its start. All connections break at once. */
  restart(o: RestartOptions): void {
    this.listening = false;
    for (const client of this.clients.values()) client.break({ carried: false });
    this.interests.clear();
    this.routes.clear();
    for (const [name, stream] of this.streams) {
      const unsynced = stream.unsyncedCount(this.nowMs);
      const asked = o.lost === 'drawn' ? this.faults.dice.below(unsynced + 1) : (o.lost?.[name] ?? 0);
      stream.restart(Math.min(asked, unsynced), this.nowMs);
      for (const durable of this.durables.get(name)?.values() ?? []) durable.restart();
      for (const session of this.sessions.get(name) ?? []) session.vanish();
      this.sessions.delete(name);
    }
    this.time.schedule(o.downMs * NS_PER_MS, 'server listens', () => {
      this.listening = true;
      this.streamsFromNs = this.time.nowNs + (o.streamsAwayMs ?? 0) * NS_PER_MS;
    });
  }

  /** Somebody deletes a stream, and what reads it. */
  removeStream(name: string): void {
    this.streams.delete(name);
    this.takers.clear();
    for (const durable of this.durables.get(name)?.values() ?? []) durable.end('409 Consumer Deleted');
    this.durables.delete(name);
    for (const session of this.sessions.get(name) ?? []) session.vanish();
    this.sessions.delete(name);
  }

  /** Somebody deletes a stream and makes it anew: its sequences begin at 1. */
  recreateStream(name: string): void {
    const { config } = this.stream(name);
    this.removeStream(name);
    this.createStream(config);
  }

  /** Of all clients, so that no answer to an earlier life of a process meets a later one. */
  nextCall(): number {
    return ++this.calls;
  }

  // What follows is what a request does when it has reached the server.

  get streamNames(): string[] {
    return [...this.streams.keys()];
  }

  stream(name: string): PlayedStream {
    this.assertStreams();
    const stream = this.streams.get(name);
    if (!stream) throw new ApiFailure(ApiErrors.streamNotFound, 404, 'stream not found');
    return stream;
  }

  createStream(config: Partial<StreamConfig> & { name: string }): StreamConfig {
    this.assertStreams();
    const full = { ...DEFAULTS, subjects: [config.name], ...config } as StreamConfig;
    const there = this.streams.get(full.name);
    if (there) {
      if (JSON.stringify(there.config) !== JSON.stringify(full))
        throw new ApiFailure(10058, 400, 'stream name already in use with a different configuration');
      return there.config;
    }
    this.streams.set(full.name, new PlayedStream(full, this.syncMs, this.version === '2.9.10', new Date(this.nowMs)));
    this.takers.clear();
    return full;
  }

  createDurable(stream: string, config: Partial<ConsumerConfig> & { durable_name: string }): void {
    const of = this.stream(stream);
    let durables = this.durables.get(stream);
    if (!durables) this.durables.set(stream, (durables = new Map<string, PlayedDurable>()));
    if (!durables.has(config.durable_name)) durables.set(config.durable_name, new PlayedDurable(this.time, of, config));
  }

  removeDurable(stream: string, durable: string): void {
    this.durable(stream, durable).end('409 Consumer Deleted');
    this.durables.get(stream)?.delete(durable);
  }

  findDurable(stream: string, durable: string): PlayedDurable | undefined {
    return this.streamsAway ? undefined : this.durables.get(stream)?.get(durable);
  }

  private durable(stream: string, durable: string): PlayedDurable {
    this.stream(stream);
    const found = this.findDurable(stream, durable);
    if (!found) throw new ApiFailure(ApiErrors.consumerNotFound, 404, 'consumer not found');
    return found;
  }

  append(subject: string, payload: Uint8Array | string, o: AppendOptions, from: Sender): Appended {
    const stream = this.taker(subject);
    if (!stream || this.streamsAway) throw noResponder(subject);
    const appended = stream.append(subject, payload, o, this.nowMs);
    if ('conflict' in appended) this.o.refused?.(stream.config.name, subject, from);
    if ('seq' in appended && !appended.duplicate) {
      this.o.stored?.(stream.config.name, subject, payload, appended.seq, from);
      for (const session of this.sessions.get(stream.config.name) ?? []) session.stored();
      for (const durable of this.durables.get(stream.config.name)?.values() ?? []) durable.serve();
    }
    return appended;
  }

  addSession(stream: string, session: ServerSession): void {
    let sessions = this.sessions.get(stream);
    if (!sessions) this.sessions.set(stream, (sessions = new Set()));
    sessions.add(session);
  }

  removeSession(stream: string, session: ServerSession): void {
    this.sessions.get(stream)?.delete(session);
  }

  addInterest(interest: Interest): void {
    this.interests.add(interest);
    this.routes.clear();
  }

  removeInterest(interest: Interest): void {
    if (this.interests.delete(interest)) this.routes.clear();
  }

  /** False: nobody listens. */
  publish(subject: string, text: string, reply?: string): boolean {
    if (subject.startsWith(INBOX)) {
      const client = this.clients.get(subject.slice(INBOX.length, subject.lastIndexOf('.')));
      client?.answered(subject, text);
      return client !== undefined;
    }
    const route = this.routes.get(subject) ?? this.route(subject);
    for (const interest of route.all) interest.deliver(subject, text, reply);
    for (const group of route.groups) this.faults.dice.maybeOf(group)?.deliver(subject, text, reply);
    return route.all.length + route.groups.length > 0;
  }

  private get streamsAway(): boolean {
    return this.time.nowNs < this.streamsFromNs;
  }

  private assertStreams(): void {
    if (this.streamsAway) throw new ApiFailure(10008, 503, 'JetStream system temporarily unavailable');
  }

  private taker(subject: string): PlayedStream | undefined {
    let stream = this.takers.get(subject);
    if (!stream) {
      for (const s of this.streams.values()) if (s.holds(subject)) stream = s;
      if (stream) this.takers.set(subject, stream);
    }
    return stream;
  }

  private route(subject: string): Route {
    const all: Interest[] = [];
    const groups = new Map<string, Interest[]>();
    for (const i of this.interests) {
      if (isLiteral(i.subject) ? i.subject !== subject : !matcher(i.subject)(subject)) continue;
      if (i.queue === undefined) {
        all.push(i);
        continue;
      }
      const group = groups.get(`${i.queue} ${i.subject}`);
      if (group) group.push(i);
      else groups.set(`${i.queue} ${i.subject}`, [i]);
    }
    const route = { all, groups: [...groups.values()] };
    this.routes.set(subject, route);
    return route;
  }
}

/** Where answers to `<inbox><client>.<n>` go. */
export const INBOX = '_INBOX.';

export const noResponder = (subject: string): MusterError =>
  new MusterError('NO_RESPONDER', `nobody answers on ${subject}`, { subject });
