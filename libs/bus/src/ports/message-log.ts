import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';
import type { Reading, ReadStart } from '../readings/reading.js';

export type { ConsumerConfig, ReadStart, StreamConfig };

/** One that is stored. */
export interface StoredMessage {
  subject: string;
  seq: number;
  text: string;
  /** When it was stored, by the server's clock. */
  time: Date;
  headers: Record<string, string>;
}

export interface AppendOptions {
  /** Makes it unique: a second one within the stream's window is acknowledged with the first one's sequence, and dropped. */
  id: string;
  /** Only when this is still the subject's last sequence; 0: the subject has none. */
  expect?: number;
  headers?: readonly (readonly [name: string, value: string])[];
  /** Of this one try. */
  timeoutMs: number;
}

/**
 * `conflict`: `expect` no longer held, and this try stored nothing. An earlier try of the same id may have: servers from
 * 2.15 look at `expect` first, older ones at the id.
 */
export type Appended = { seq: number; duplicate: boolean } | { conflict: true };

export interface ReadMessage {
  subject: string;
  seq: number;
  /** Decoded when it is asked for. */
  readonly text: string;
  headers: Record<string, string>;
}

export interface ReadOptions extends Reading {
  /** In order, without holes. A promise holds the sender back until it is done. It neither throws nor rejects. */
  onMessage(m: ReadMessage): void | Promise<void>;
  /** All that was stored when the session began has been handed over. Once. */
  onLive(): void;
  /** A hole, a silence, a refusal: this session is not to be trusted any more. Nothing is handed over after it was closed. */
  onDoubt(why: string): void;
}

/** One reading of a stream, until it is closed or in doubt. */
export interface ReadSession {
  close(): void;
}

/** A message of a durable consumer, out with us until one of these is said, or its time is over. */
export interface PulledMessage {
  subject: string;
  text: string;
  seq: number;
  /** 1 at the first. */
  deliveries: number;
  /** Done with. Lost like every word where the connection breaks: then it comes again. */
  ack(): void;
  /** Again, not before so many ms. */
  nak(delayMs: number): void;
  /** Still at work: its time begins anew. */
  working(): void;
  /** Never again. */
  term(): void;
}

export interface LogInfo {
  /** When the stream was made, by the server's clock: one of the same name that was made anew has another. */
  created: Date;
  messages: number;
  bytes: number;
  firstSeq: number;
  firstTime: Date;
  lastSeq: number;
  /** Where they were asked for: messages by subject. */
  subjects?: Record<string, number>;
  config: StreamConfig;
  /** On a cluster of servers. */
  cluster?: { leader?: string; replicas: { name: string; current: boolean }[] };
}

/**
 * Streams of messages that stay (JetStream): each call is one try at one server. What rides out lost answers, restarts
 * and gaps stands above it, and runs unchanged where a simulation plays the log.
 *
 * All of them throw ApiFailure where the server refuses, else MusterError TIMEOUT, NO_RESPONDER, FORBIDDEN or
 * BUS_UNAVAILABLE: then what was asked may have been done.
 */
export interface MessageLog {
  append(subject: string, payload: Uint8Array | string, o: AppendOptions): Promise<Appended>;
  /** The last message of a subject, from the stream's leader (never "direct get", which may be stale). */
  last(stream: string, subject: string): Promise<StoredMessage | undefined>;
  /** The first message of a subject from a sequence on. */
  next(stream: string, subject: string, seq: number): Promise<StoredMessage | undefined>;
  /** Does the stream hold a message of this sequence, or of a later one? */
  hasFrom(stream: string, seq: number): Promise<boolean>;
  /** @param o.subjects filter of the subjects that are to be counted */
  info(stream: string, o?: { subjects?: string }): Promise<LogInfo>;
  /** Resolves when the server has agreed; messages may have come before. */
  read(stream: string, o: ReadOptions): Promise<ReadSession>;
  /**
   * The next message of a durable consumer; undefined: none came within `waitMs`, or `signal` was aborted.
   */
  pull(
    stream: string,
    durable: string,
    o: { waitMs: number; signal?: AbortSignal },
  ): Promise<PulledMessage | undefined>;
  /** As it is configured afterwards: one of the same shape may have been there. */
  createStream(config: Partial<StreamConfig> & { name: string }): Promise<StreamConfig>;
  createConsumer(stream: string, config: Partial<ConsumerConfig> & { durable_name: string }): Promise<void>;
  removeConsumer(stream: string, durable: string): Promise<void>;
  /** Drops all of a subject but for the newest so many. */
  purge(stream: string, o: { subject: string; keep: number }): Promise<void>;
}
