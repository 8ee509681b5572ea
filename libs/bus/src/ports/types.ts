import type { RecordCodec, RecordSeal } from '#contracts';

/** What the bus writes to: a pino logger fits. */
export interface BusLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export const silentLog: BusLog = { debug() {}, info() {}, warn() {}, error() {} };

/** One NATS user. */
export interface BusCredentials {
  /** Its name, also the prefix of its inboxes. */
  user: string;
  /** Its nkey seed. Secret. */
  seed: string;
  /** Signed by its account: that it exists and what it may do. */
  jwt: string;
  /**
   * PEM: the CA of the servers' certificates; with it there is TLS or no connection.
   * @default no TLS
   */
  ca?: string;
  /**
   * It is of an account without streams: records and events are read through inventory, and stored by import.
   * @default false: of the account that holds them
   */
  ownAccount?: boolean;
}

export interface BusOptions {
  /** Shown by the server, and the `source` of events: the instance, e.g. `fencer-1`. */
  name: string;
  servers: string[];
  /** Absent: a server without users (tests). */
  credentials?: BusCredentials;
  log?: BusLog;
  /** How long the first connection may take. @default 10000 */
  connectTimeoutMs?: number;
  /** For who keeps values of its own in a bucket (tests). @default as the product's records */
  codec?: RecordCodec;
  /** See {@link RecordSeal}. @default records are seen and written as they are stored */
  seal?: RecordSeal;
}

export interface Closable {
  close(): Promise<void>;
}

/** A value of a bucket, and the revision to name in the next compare-and-set. */
export interface Entry<T> {
  key: string;
  value: T;
  revision: number;
}

export interface Watch extends Closable {
  /** False until the first snapshot is complete, and from each gap until the snapshot after it: what is known may be old. */
  readonly live: boolean;
}
