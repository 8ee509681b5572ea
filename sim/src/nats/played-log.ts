import type {
  AppendOptions,
  Appended,
  ConsumerConfig,
  LogInfo,
  MessageLog,
  PulledMessage,
  ReadOptions,
  ReadSession,
  StoredMessage,
  StreamConfig,
} from '#bus/ports/message-log.js';
import type { PlayedConnection } from './played-connection.js';
import { PlayedSession } from './played-session.js';
import { pullOne } from './played-pull.js';
import { textOf, type PlayedMessage } from './played-stream.js';
import { matcher } from './subject-match.js';

/** One try of what has no limit of its own, ms. */
const API_MS = 2000;
const CHANGE_MS = 5000;

/** {@link MessageLog} over the played server. */
export class PlayedLog implements MessageLog {
  constructor(private readonly client: PlayedConnection) {}

  append(subject: string, payload: Uint8Array | string, o: AppendOptions): Promise<Appended> {
    const from = { client: this.client.name, sentMs: this.server.time.nowMs };
    return this.client.call(subject, o.timeoutMs, () => this.server.append(subject, payload, o, from));
  }

  last(stream: string, subject: string): Promise<StoredMessage | undefined> {
    return this.api(`last ${stream}`, () => stored(this.server.stream(stream).lastOf(subject)));
  }

  next(stream: string, subject: string, seq: number): Promise<StoredMessage | undefined> {
    return this.api(`next ${stream}`, () => stored(this.server.stream(stream).nextOf(matcher(subject), seq)));
  }

  hasFrom(stream: string, seq: number): Promise<boolean> {
    return this.api(`hasFrom ${stream}`, () => this.server.stream(stream).nextOf(() => true, seq) !== undefined);
  }

  info(stream: string, o: { subjects?: string } = {}): Promise<LogInfo> {
    return this.api(`info ${stream}`, () => this.server.stream(stream).info(o.subjects));
  }

  async read(stream: string, o: ReadOptions): Promise<ReadSession> {
    const session = new PlayedSession(this.server, this.client, stream, o);
    this.client.addSession(session);
    try {
      session.agreed(await this.api(`read ${stream}`, () => session.begin()));
    } catch (e) {
      session.close();
      throw e;
    }
    return session;
  }

  pull(
    stream: string,
    durable: string,
    o: { waitMs: number; signal?: AbortSignal },
  ): Promise<PulledMessage | undefined> {
    return pullOne(this.client, stream, durable, o);
  }

  createStream(config: Partial<StreamConfig> & { name: string }): Promise<StreamConfig> {
    return this.api(`create ${config.name}`, () => this.server.createStream(config), CHANGE_MS);
  }

  createConsumer(stream: string, config: Partial<ConsumerConfig> & { durable_name: string }): Promise<void> {
    return this.api(`consumer ${stream}`, () => this.server.createDurable(stream, config));
  }

  removeConsumer(stream: string, durable: string): Promise<void> {
    return this.api(`unconsumer ${stream}`, () => this.server.removeDurable(stream, durable));
  }

  purge(stream: string, o: { subject: string; keep: number }): Promise<void> {
    return this.api(`purge ${stream}`, () => this.server.stream(stream).purge(o.subject, o.keep), CHANGE_MS);
  }

  private get server() {
    return this.client.server;
  }

  private api<T>(what: string, act: () => T, timeoutMs = API_MS): Promise<T> {
    return this.client.call(what, timeoutMs, act);
  }
}

function stored(m: PlayedMessage | undefined): StoredMessage | undefined {
  return m && { subject: m.subject, seq: m.seq, text: textOf(m), time: new Date(m.atMs), headers: m.headers };
}
