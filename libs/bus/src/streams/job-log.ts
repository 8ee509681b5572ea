import { Streams, Subjects } from '#contracts';
import type { Link } from '../ports/link.js';
import type { ReadMessage } from '../ports/message-log.js';
import { store } from './store.js';
import { StreamReader } from './stream-reader.js';

/** Largest piece of a log in one message: small against the server's 8 MB, and a reader sees something soon. */
export const LOG_CHUNK_BYTES = 256 * 1024;
const END_HEADER = 'Muster-Log-End';
/** Pieces that are fetched ahead of a reader: a slow one holds up its own fetching, never our memory. */
const AHEAD = 16;

export interface LogChunk {
  /** Sequence in the stream of logs: go on with `from: seq + 1`. */
  seq: number;
  text: string;
}

export interface ReadLogOptions {
  /** First sequence that is wanted. @default the beginning */
  from?: number;
  /** Wait for more until the log's end is marked. @default false */
  follow?: boolean;
  signal?: AbortSignal;
}

/** Pieces of at most {@link LOG_CHUNK_BYTES}, never through a character. */
export function chunks(text: string): Uint8Array[] {
  const bytes = Buffer.from(text, 'utf8');
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    let end = Math.min(at + LOG_CHUNK_BYTES, bytes.length);
    while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
    out.push(bytes.subarray(at, end));
    at = end;
  }
  return out;
}

/** Writes job logs; pieces of one job go out one after the other. */
export class JobLogs {
  private readonly last = new Map<string, Promise<void>>();

  constructor(private readonly link: Link) {}

  append(job: string, text: string): Promise<void> {
    return this.inOrder(job, async () => {
      for (const piece of chunks(text)) await this.put(job, piece, []);
    });
  }

  end(job: string): Promise<void> {
    return this.inOrder(job, () => this.put(job, '', [[END_HEADER, '1']]));
  }

  async *read(job: string, o: ReadLogOptions): AsyncIterable<LogChunk> {
    const pending: LogChunk[] = [];
    let done = false;
    let wake: () => void = () => undefined;
    let room: () => void = () => undefined;
    const finish = (): void => {
      done = true;
      wake();
      room();
    };
    let next = o.from ?? 1;
    const reader = new StreamReader(this.link, {
      stream: Streams.logs.name,
      filter: Subjects.log(job),
      start: () => ({ from: 'seq', seq: Math.max(1, next) }),
      onMessage: (m: ReadMessage) => {
        next = m.seq + 1;
        if (END_HEADER in m.headers) return finish();
        if (done) return;
        pending.push({ seq: m.seq, text: m.text });
        wake();
        if (pending.length < AHEAD) return;
        return new Promise<void>((resolve) => {
          room = resolve;
        });
      },
      onLive: () => {
        if (!o.follow) finish();
      },
    });
    o.signal?.addEventListener('abort', finish, { once: true });
    if (o.signal?.aborted) done = true;
    try {
      for (;;) {
        while (pending.length > 0) {
          const piece = pending.shift()!;
          if (pending.length < AHEAD) room();
          yield piece;
        }
        if (done) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      o.signal?.removeEventListener('abort', finish);
      finish();
      await reader.close();
    }
  }

  private async put(job: string, piece: Uint8Array | string, headers: [string, string][]): Promise<void> {
    await store(this.link, Subjects.log(job), piece, { headers, timeoutMs: 30_000 });
  }

  private inOrder(job: string, step: () => Promise<void>): Promise<void> {
    const before = this.last.get(job) ?? Promise.resolve();
    // A piece that failed was told to its own caller; the next ones go on.
    const mine = before.catch(() => undefined).then(step);
    this.last.set(job, mine);
    const forget = (): void => {
      if (this.last.get(job) === mine) this.last.delete(job);
    };
    mine.then(forget, forget);
    return mine;
  }
}
