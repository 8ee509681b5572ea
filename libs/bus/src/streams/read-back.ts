import { MusterError, Streams, type Timer } from '#contracts';
import type { Link } from '../ports/link.js';
import { askPatiently, readLimitMs } from './ask-patiently.js';
import { StreamReader } from './stream-reader.js';

export interface ReadBackOptions {
  /** Only what stands before this sequence. @default the end */
  before?: number;
  /** So many, at most. */
  count: number;
  /** Which of the messages under the filters count. */
  keep(subject: string, value: unknown): boolean;
  /** In all, ms. @default 5000 on a single server, 12000 on a cluster */
  timeoutMs?: number;
}

export interface PastEvent {
  seq: number;
  subject: string;
  value: unknown;
}

/** The first look back goes over so many sequences, each one further back over four times as many. */
const FIRST_WINDOW = 2_000;
/** Sequences that one call looks back over, at most: then the reader asks again from there. */
const MOST_SEQUENCES = 500_000;

/**
 * Verdicts and events, newest first. The server looks for each filter by itself, so what is not asked for costs little.
 * `next`, where there is more: what goes into `before`. There may be none on a page that has a `next`.
 * @throws MusterError TIMEOUT, BUS_UNAVAILABLE
 */
export async function readBack(
  link: Link,
  filters: readonly string[],
  o: ReadBackOptions,
): Promise<{ items: PastEvent[]; next?: number }> {
  const { clock } = link;
  const deadline = clock.monotonicMs() + (o.timeoutMs ?? readLimitMs(link));
  const { firstSeq, lastSeq } = await askPatiently(link, deadline, () => link.messages.info(Streams.events.name));
  const newest = Math.min(o.before ?? Infinity, lastSeq + 1);
  const found = new Map<number, PastEvent>();
  let end = newest;
  for (let window = FIRST_WINDOW; end > firstSeq; window *= 4) {
    const from = Math.max(firstSeq, end - window);
    const read = await Promise.all(filters.map((f) => readWindow(link, f, from, end, deadline - clock.monotonicMs())));
    for (const e of read.flat()) if (o.keep(e.subject, e.value)) found.set(e.seq, e);
    end = from;
    if (found.size >= o.count || newest - end >= MOST_SEQUENCES) break;
  }
  const items = [...found.values()].sort((a, b) => b.seq - a.seq).slice(0, o.count);
  const oldest = items.at(-1);
  if (oldest && found.size > items.length) return { items, next: oldest.seq };
  return end > firstSeq ? { items, next: end } : { items };
}

/**
 * All under the filter from `from` on, and before `end`: also where the server that is read from is behind its cluster,
 * for the stream's leader says what is still to come.
 * @throws MusterError TIMEOUT
 */
export async function readWindow(
  link: Link,
  filter: string,
  from: number,
  end: number,
  timeoutMs: number,
): Promise<PastEvent[]> {
  const stream = Streams.events.name;
  const found: PastEvent[] = [];
  let last = from - 1;
  let reader: StreamReader | undefined;
  let timer: Timer | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const late = (): void => reject(new MusterError('TIMEOUT', 'the events were not read in time'));
      timer = link.clock.after(Math.max(0, timeoutMs), late);
      /** Comes only now, for the server that is read from did not have it. */
      let missing: number | undefined;
      const look = async (): Promise<void> => {
        const next = await link.messages.next(stream, filter, Math.max(1, last + 1));
        if (next === undefined || next.seq >= end) return resolve();
        if (next.seq > last) missing = next.seq;
        else await look();
      };
      const lookOrFail = (): void => void look().catch(reject);
      reader = new StreamReader(link, {
        stream,
        filter,
        start: () => ({ from: 'seq', seq: Math.max(1, last + 1) }),
        onMessage: (m) => {
          const { seq, subject } = m;
          if (seq >= end) return resolve();
          last = seq;
          try {
            found.push({ seq, subject, value: JSON.parse(m.text) as unknown });
          } catch (err) {
            link.log.warn({ err, subject, seq }, 'an event that is not JSON is left out');
          }
          if (missing !== undefined && seq >= missing) {
            missing = undefined;
            lookOrFail();
          }
        },
        onLive: lookOrFail,
      });
    });
  } finally {
    timer?.cancel();
    await reader?.close();
  }
  return found;
}
