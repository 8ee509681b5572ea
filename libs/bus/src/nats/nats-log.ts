import type { ConsumerConfig, ConsumerInfo, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { headers, nuid, type MsgHdrs } from '@nats-io/transport-node';
import { isWireError, MusterError, Subjects, type ServiceName } from '#contracts';
import { ApiErrors, ApiFailure } from '../ports/log-failure.js';
import type {
  Appended,
  AppendOptions,
  LogInfo,
  MessageLog,
  PulledMessage,
  ReadOptions,
  ReadSession,
  StoredMessage,
} from '../ports/message-log.js';
import { OwnApi, StoreApi } from '../store-names/store-api.js';
import { readingConfig, readingRequest } from '../readings/reading.js';
import { patienceWith } from '../servers/patience.js';
import { askAgain } from './ask-again.js';
import type { NatsWire } from './nats-wire.js';
import { pullOne } from './pull.js';
import { NatsReadSession } from './read-session.js';

/** Of one request to the server's API, ms. */
const ANSWER_MS = 2_000;
/** The same where it has to write files first. */
const WORK_MS = 5_000;
/** Of a reading that inventory is asked for, ms: it may be slow, and is a process of which there may be several. */
const READING_MS = 10_000;
/** nats-server 2.9 does not tell that nobody answers in another account, ms. */
const READING_AGAIN_MS = 1_000;

interface Answer {
  error?: { code: number; err_code?: number; description: string };
}

function parse<T>(text: string): T {
  const answer = JSON.parse(text) as T & Answer;
  if (answer.error) throw new ApiFailure(answer.error.err_code ?? 0, answer.error.code, answer.error.description);
  return answer;
}

/** JetStream over one connection: its requests and answers as they stand in the server's API. */
export class NatsLog implements MessageLog {
  private readonly prefix: string;

  /** @param service whose account is its own: it asks inventory for its readings. @default the streams' account */
  constructor(
    private readonly wire: NatsWire,
    private readonly service?: ServiceName,
  ) {
    this.prefix = service === undefined ? StoreApi : OwnApi;
  }

  async append(subject: string, payload: Uint8Array | string, o: AppendOptions): Promise<Appended> {
    try {
      const msg = await this.wire.send(subject, payload, { timeoutMs: o.timeoutMs, headers: appendHeaders(o) });
      const { seq, duplicate } = parse<{ seq: number; duplicate?: boolean }>(msg.string());
      return { seq, duplicate: duplicate === true };
    } catch (e) {
      if (e instanceof ApiFailure && (ApiErrors.wrongRevision as readonly number[]).includes(e.errCode))
        return { conflict: true };
      throw e;
    }
  }

  last(stream: string, subject: string): Promise<StoredMessage | undefined> {
    return this.message(stream, { last_by_subj: subject });
  }

  next(stream: string, subject: string, seq: number): Promise<StoredMessage | undefined> {
    return this.message(stream, { seq, next_by_subj: subject });
  }

  async hasFrom(stream: string, seq: number): Promise<boolean> {
    return (await this.rawMessage(stream, { seq, next_by_subj: '>' })) !== undefined;
  }

  async info(stream: string, o: { subjects?: string } = {}): Promise<LogInfo> {
    const body = o.subjects === undefined ? undefined : { subjects_filter: o.subjects };
    const { state, config, created, cluster } = await this.question<StreamInfo>(`STREAM.INFO.${stream}`, body);
    return {
      created: new Date(created),
      messages: state.messages,
      bytes: state.bytes,
      firstSeq: state.first_seq,
      firstTime: new Date(state.first_ts),
      lastSeq: state.last_seq,
      ...(o.subjects !== undefined && { subjects: state.subjects ?? {} }),
      config,
      ...(cluster?.name !== undefined && {
        cluster: {
          ...(cluster.leader !== undefined && cluster.leader !== '' && { leader: cluster.leader }),
          replicas: (cluster.replicas ?? []).map(({ name, current, offline }) => ({
            name,
            current: current && offline !== true,
          })),
        },
      }),
    };
  }

  async read(stream: string, o: ReadOptions): Promise<ReadSession> {
    const reading = nuid.next();
    const at = this.service === undefined ? this.wire.inbox() : Subjects.feed(this.service, reading);
    const session = new NatsReadSession(this.wire, at, o);
    try {
      session.listen();
      session.begin(
        this.service === undefined
          ? await this.api<ConsumerInfo>(`CONSUMER.CREATE.${stream}`, {
              stream_name: stream,
              config: readingConfig(o, at),
            })
          : await this.askReading(this.service, JSON.stringify(readingRequest(stream, o, reading))),
      );
      return session;
    } catch (e) {
      session.close();
      throw e;
    }
  }

  pull(
    stream: string,
    durable: string,
    o: { waitMs: number; signal?: AbortSignal },
  ): Promise<PulledMessage | undefined> {
    return pullOne(this.wire, stream, durable, o);
  }

  async createStream(config: Partial<StreamConfig> & { name: string }): Promise<StreamConfig> {
    return (await this.question<StreamInfo>(`STREAM.CREATE.${config.name}`, config, WORK_MS)).config;
  }

  async createConsumer(stream: string, config: Partial<ConsumerConfig> & { durable_name: string }): Promise<void> {
    await this.api(`CONSUMER.DURABLE.CREATE.${stream}.${config.durable_name}`, { stream_name: stream, config });
  }

  async removeConsumer(stream: string, durable: string): Promise<void> {
    await this.api(`CONSUMER.DELETE.${stream}.${durable}`);
  }

  async purge(stream: string, o: { subject: string; keep: number }): Promise<void> {
    await this.api(`STREAM.PURGE.${stream}`, { filter: o.subject, keep: o.keep }, WORK_MS);
  }

  /** Asked twice, the server makes it once: inventory gives it the name that the service has chosen. */
  private async askReading(service: ServiceName, request: string): Promise<ConsumerInfo> {
    const ask = (timeoutMs: number): Promise<string> =>
      this.wire.request(Subjects.read(service), request, { timeoutMs });
    const answer = parse<ConsumerInfo>(await askAgain(ask, READING_AGAIN_MS, READING_MS));
    if (isWireError(answer)) throw MusterError.from(answer);
    return answer;
  }

  /** One request to JetStream's API. */
  private async api<T>(verb: string, body?: unknown, timeoutMs = ANSWER_MS): Promise<T> {
    const text = body === undefined ? '' : JSON.stringify(body);
    return parse<T>(await this.wire.request(`${this.prefix}.${verb}`, text, { timeoutMs }));
  }

  /** As {@link api}, where to ask twice changes nothing: a stream without a leader loses what it is asked. */
  private async question<T>(verb: string, body?: unknown, limitMs = ANSWER_MS): Promise<T> {
    const { askAgainMs } = patienceWith(this.wire.serverInfo);
    if (askAgainMs === undefined) return this.api<T>(verb, body, limitMs);
    return askAgain((leftMs) => this.api<T>(verb, body, leftMs), askAgainMs, limitMs);
  }

  private async message(stream: string, which: object): Promise<StoredMessage | undefined> {
    const m = await this.rawMessage(stream, which);
    if (m === undefined) return undefined;
    return {
      subject: m.subject,
      seq: m.seq,
      text: fromBase64(m.data),
      time: new Date(m.time),
      headers: parseHeaders(fromBase64(m.hdrs)),
    };
  }

  private async rawMessage(stream: string, which: object): Promise<RawMessage | undefined> {
    try {
      return (await this.question<{ message: RawMessage }>(`STREAM.MSG.GET.${stream}`, which)).message;
    } catch (e) {
      if (e instanceof ApiFailure && e.errCode === ApiErrors.noMessage) return undefined;
      throw e;
    }
  }
}

interface RawMessage {
  subject: string;
  seq: number;
  time: string;
  data?: string;
  hdrs?: string;
}

const fromBase64 = (text = ''): string => Buffer.from(text, 'base64').toString('utf8');

function parseHeaders(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const line of text.split('\r\n').slice(1)) {
    const at = line.indexOf(':');
    if (at > 0) out[line.slice(0, at)] = line.slice(at + 1).trim();
  }
  return out;
}

function appendHeaders(o: AppendOptions): MsgHdrs {
  const h = headers();
  h.set('Nats-Msg-Id', o.id);
  if (o.expect !== undefined) h.set('Nats-Expected-Last-Subject-Sequence', String(o.expect));
  for (const [name, value] of o.headers ?? []) h.set(name, value);
  return h;
}
