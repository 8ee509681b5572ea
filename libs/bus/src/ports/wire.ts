/** A message of core NATS, as it was heard. */
export interface WireMessage {
  subject: string;
  text: string;
  /** Where an answer is expected; absent: nowhere. */
  reply?: string;
  /**
   * The same in the account of who asked, where that is another: `reply` is then the server's own, which forgets it when
   * an account changes.
   */
  askersReply?: string;
  /** Answers it; dropped where no answer is expected or the connection is gone. */
  respond(text: string): void;
}

export interface WireSubscription {
  /** Hears nothing more from now on. */
  close(): void;
  /** The same, after what the server has sent before it knew; resolves then, or when there is no connection. */
  drain(): Promise<void>;
}

export interface SubscribeOptions {
  /** One of all who name it gets each message. */
  queue?: string;
  onMessage(m: WireMessage): void;
  /** The server refuses the subject: nothing will be heard. */
  onRefused(error: Error): void;
}

/** What the server that we are connected to says of itself. */
export interface ServerInfo {
  name?: string;
  version: string;
  /** Absent on a single server. */
  cluster?: string;
  /** Addresses of the cluster's servers, `host:port`, as they are announced. */
  connectUrls: readonly string[];
}

export interface RequestOptions {
  timeoutMs: number;
  /** Who answers is told where the answer goes in the asker's own account: see {@link WireMessage.askersReply}. @default false */
  namesReply?: boolean;
}

export type WireStatus = 'connected' | 'disconnected';

/**
 * Core NATS over one connection: at most once, no memory. All that is ours (envelopes, limits, retries) stands above it,
 * so that it runs unchanged where a simulation plays the wire.
 */
export interface Wire {
  /** Known within 3 s of a silent cut. */
  readonly connected: boolean;
  /** For good, by us. */
  readonly closed: boolean;
  /** Undefined before the first connection. */
  readonly serverInfo: ServerInfo | undefined;
  /** Tells each change. Returns how to stop it. */
  onStatus(fn: (status: WireStatus) => void): () => void;
  /**
   * One request, one answer. TIMEOUT, NO_RESPONDER, FORBIDDEN; BUS_UNAVAILABLE at once without a connection, or when it
   * breaks meanwhile: the other side may have carried it out all the same.
   */
  request(subject: string, text: string, o: RequestOptions): Promise<string>;
  /** Dropped without a connection. */
  publish(subject: string, text: string): void;
  subscribe(subject: string, o: SubscribeOptions): WireSubscription;
  /** Resolves when the server has taken all that was published and subscribed so far. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
