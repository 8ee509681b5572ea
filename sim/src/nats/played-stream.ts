import type { AppendOptions, Appended, LogInfo, StreamConfig } from '#bus/ports/message-log.js';
import { isLiteral, matcher } from './subject-match.js';

/** One that is stored. */
export interface PlayedMessage {
  readonly seq: number;
  readonly subject: string;
  readonly payload: Uint8Array | string;
  /** By the server's wall clock. */
  readonly atMs: number;
  readonly headers: Record<string, string>;
}

/** What a power failure would take: a message, and what it had pushed out of the stream. */
interface Unsynced {
  message: PlayedMessage;
  pushedOut: PlayedMessage[];
}

const decoder = new TextDecoder();

export const textOf = (m: PlayedMessage): string =>
  typeof m.payload === 'string' ? m.payload : decoder.decode(m.payload);

/** What a message takes in the store beside its text. */
const RECORD_BYTES = 30;
const sizeOf = (m: PlayedMessage): number => m.payload.length + m.subject.length + RECORD_BYTES;

/** One stream of the played server: what is stored, and what a crash would make of it. Limits of age are not played. */
export class PlayedStream {
  private messages = new Map<number, PlayedMessage>();
  /** Sequences of each subject, ascending. */
  private readonly subjects = new Map<string, number[]>();
  private readonly ids = new Map<string, { seq: number; atMs: number }>();
  private unsynced: Unsynced[] = [];
  private last = 0;
  private bytes = 0;
  private readonly windowMs: number;
  private readonly perSubject: number;
  private readonly mostBytes: number;
  private readonly takes: readonly ((subject: string) => boolean)[];

  constructor(
    readonly config: StreamConfig,
    /** After which the store is on the disk, ms. 0: always. */
    private readonly syncMs: number,
    /** A known id is looked at before what the message expects. */
    private readonly idFirst: boolean,
    /** By the server's clock. */
    private readonly created: Date,
  ) {
    this.windowMs = config.duplicate_window / 1e6;
    this.perSubject = config.max_msgs_per_subject > 0 ? config.max_msgs_per_subject : Infinity;
    this.mostBytes = config.max_bytes > 0 ? config.max_bytes : Infinity;
    this.takes = config.subjects.map(matcher);
  }

  get lastSeq(): number {
    return this.last;
  }

  get size(): number {
    return this.messages.size;
  }

  holds(subject: string): boolean {
    return this.takes.some((t) => t(subject));
  }

  append(subject: string, payload: Uint8Array | string, o: AppendOptions, atMs: number): Appended {
    this.forgetIds(atMs);
    const first = this.ids.get(o.id);
    const last = this.subjects.get(subject)?.at(-1) ?? 0;
    if (o.expect !== undefined && o.expect !== last && !(first && this.idFirst)) return { conflict: true };
    if (first) return { seq: first.seq, duplicate: true };
    const headers: Record<string, string> = { 'Nats-Msg-Id': o.id };
    if (o.expect !== undefined) headers['Nats-Expected-Last-Subject-Sequence'] = String(o.expect);
    for (const [name, value] of o.headers ?? []) headers[name] = value;
    const message: PlayedMessage = { seq: this.last + 1, subject, payload, atMs, headers };
    const pushedOut: PlayedMessage[] = [];
    this.put(message);
    const own = this.subjects.get(subject) as number[];
    while (own.length > this.perSubject) pushedOut.push(this.drop(own[0] as number));
    while (this.bytes > this.mostBytes) pushedOut.push(this.drop(this.firstSeq));
    if (this.syncMs > 0) this.unsynced.push({ message, pushedOut });
    this.ids.set(o.id, { seq: message.seq, atMs });
    return { seq: message.seq, duplicate: false };
  }

  get(seq: number): PlayedMessage | undefined {
    return this.messages.get(seq);
  }

  lastOf(filter: string): PlayedMessage | undefined {
    if (isLiteral(filter)) return this.messages.get(this.subjects.get(filter)?.at(-1) ?? 0);
    return this.messages.get(this.lastPerSubject(matcher(filter)).at(-1) ?? 0);
  }

  /** The first of these subjects from a sequence on. */
  nextOf(matching: (subject: string) => boolean, from: number): PlayedMessage | undefined {
    for (let seq = Math.max(from, 1); seq <= this.last; seq++) {
      const m = this.messages.get(seq);
      if (m && matching(m.subject)) return m;
    }
    return undefined;
  }

  /** Sequences, ascending. */
  lastPerSubject(matching: (subject: string) => boolean): number[] {
    const found: number[] = [];
    for (const [subject, seqs] of this.subjects) if (matching(subject)) found.push(seqs.at(-1) as number);
    return found.sort((a, b) => a - b);
  }

  /** The first that was stored at or after this moment; one after the last where none was. */
  seqAt(atMs: number): number {
    for (const m of this.messages.values()) if (m.atMs >= atMs) return m.seq;
    return this.last + 1;
  }

  info(counted?: string): LogInfo {
    const first = this.messages.get(this.firstSeq);
    const subjects: Record<string, number> = {};
    if (counted !== undefined) {
      const matching = matcher(counted);
      for (const [subject, seqs] of this.subjects) if (matching(subject)) subjects[subject] = seqs.length;
    }
    return {
      created: this.created,
      messages: this.messages.size,
      bytes: this.bytes,
      firstSeq: this.firstSeq,
      firstTime: new Date(first?.atMs ?? NO_TIME),
      lastSeq: this.last,
      ...(counted !== undefined && { subjects }),
      config: this.config,
    };
  }

  purge(filter: string, keep: number): void {
    const matching = matcher(filter);
    const all = [...this.messages.values()].filter((m) => matching(m.subject));
    for (const m of all.slice(0, Math.max(0, all.length - keep))) this.drop(m.seq);
  }

  /** How many of the newest a power failure could take now. */
  unsyncedCount(atMs: number): number {
    let synced = 0;
    while (synced < this.unsynced.length && (this.unsynced[synced] as Unsynced).message.atMs <= atMs - this.syncMs)
      synced++;
    if (synced > 0) this.unsynced.splice(0, synced);
    return this.unsynced.length;
  }

  /**
   * The server starts anew, without the newest so many: their sequences are given again, and what they had pushed out is
   * back. Ids are known only of what is still stored.
   */
  restart(lost: number, atMs: number): void {
    for (let n = 0; n < lost; n++) {
      const gone = this.unsynced.pop();
      if (!gone) break;
      if (this.messages.has(gone.message.seq)) this.drop(gone.message.seq);
      for (const m of gone.pushedOut) this.put(m);
      this.last = gone.message.seq - 1;
    }
    this.unsynced = [];
    if (lost > 0) this.sort();
    this.ids.clear();
    for (const { seq, atMs: at, headers } of this.messages.values()) {
      const id = headers['Nats-Msg-Id'];
      if (id !== undefined && at > atMs - this.windowMs) this.ids.set(id, { seq, atMs: at });
    }
  }

  private get firstSeq(): number {
    for (const seq of this.messages.keys()) return seq;
    return this.last === 0 ? 0 : this.last + 1;
  }

  private put(m: PlayedMessage): void {
    this.messages.set(m.seq, m);
    const seqs = this.subjects.get(m.subject);
    if (seqs) seqs.push(m.seq);
    else this.subjects.set(m.subject, [m.seq]);
    this.bytes += sizeOf(m);
    this.last = Math.max(this.last, m.seq);
  }

  private drop(seq: number): PlayedMessage {
    const m = this.messages.get(seq);
    const seqs = m && this.subjects.get(m.subject);
    if (!m || !seqs) throw new Error(`${this.config.name} has no message ${seq}`);
    this.messages.delete(seq);
    if (seqs[0] === seq) seqs.shift();
    else seqs.splice(seqs.indexOf(seq), 1);
    if (seqs.length === 0) this.subjects.delete(m.subject);
    this.bytes -= sizeOf(m);
    return m;
  }

  /** After older ones were put back behind newer ones. */
  private sort(): void {
    this.messages = new Map([...this.messages].sort(([a], [b]) => a - b));
    for (const seqs of this.subjects.values()) seqs.sort((a, b) => a - b);
  }

  private forgetIds(atMs: number): void {
    for (const [id, { atMs: at }] of this.ids) {
      if (at > atMs - this.windowMs) return;
      this.ids.delete(id);
    }
  }
}

/** What the server says of a stream without messages: the year 1. */
const NO_TIME = Date.parse('0001-01-01T00:00:00Z');
