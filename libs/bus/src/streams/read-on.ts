import { Streams } from '#contracts';
import type { Link } from '../ports/link.js';
import { askPatiently, readLimitMs } from './ask-patiently.js';
import { readWindow, type PastEvent } from './read-back.js';

export interface ReadOnOptions {
  /** What stands behind this sequence; 0: from the oldest that is kept. */
  after: number;
  /** So many, at most. */
  count: number;
  /** In all, ms. @default 5000 on a single server, 12000 on a cluster */
  timeoutMs?: number;
}

export interface ReadOn {
  items: PastEvent[];
  /** All up to here was looked at: it goes into the next `after`. */
  last: number;
  /** There is more behind `last`. */
  more: boolean;
  /** Something between `after` and the first of these is not kept any more. */
  isIncomplete: boolean;
}

/** The first look goes over so many sequences, each one further over four times as many. */
const FIRST_WINDOW = 2_000;
/** Sequences that one call looks over, at most: the reader asks again from there. */
const MOST_SEQUENCES = 500_000;

/**
 * Verdicts and events in their order. The server looks for each filter by itself, so what is not asked for costs little.
 * @throws MusterError TIMEOUT, BUS_UNAVAILABLE
 */
export async function readOn(link: Link, filters: readonly string[], o: ReadOnOptions): Promise<ReadOn> {
  const deadline = link.clock.monotonicMs() + (o.timeoutMs ?? readLimitMs(link));
  const { firstSeq, lastSeq } = await askPatiently(link, deadline, () => link.messages.info(Streams.events.name));
  const isIncomplete = o.after > 0 && o.after < firstSeq - 1;
  const start = Math.max(o.after + 1, firstSeq);
  const found = new Map<number, PastEvent>();
  let next = start;
  for (let window = FIRST_WINDOW; next <= lastSeq; window *= 4) {
    const end = Math.min(next + window, lastSeq + 1);
    const left = deadline - link.clock.monotonicMs();
    for (const e of (await Promise.all(filters.map((f) => readWindow(link, f, next, end, left)))).flat())
      found.set(e.seq, e);
    next = end;
    if (found.size >= o.count || next - start >= MOST_SEQUENCES) break;
  }
  const items = [...found.values()].sort((a, b) => a.seq - b.seq);
  const kept = items.slice(0, o.count);
  const last = kept.length < items.length ? (kept.at(-1)?.seq ?? o.after) : Math.max(o.after, next - 1);
  return { items: kept, last, more: last < lastSeq, isIncomplete };
}
