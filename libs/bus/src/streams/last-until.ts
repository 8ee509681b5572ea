import { Streams } from '#contracts';
import type { Link } from '../ports/link.js';
import { askPatiently, readLimitMs } from './ask-patiently.js';

/** Where a subject stood at a moment. */
export interface LastUntil {
  /** Of its last message stored at or before that moment; absent: none of it is kept. */
  seq?: number;
  /** Since when the stream holds everything, by the server's clock; absent: it is empty. */
  keptSince?: Date;
}

/**
 * The last message of a subject that was stored at or before a moment, by the server's clock. Halves the stream until it
 * is found: some twenty small questions, however much of the subject is stored behind that moment.
 */
export async function lastUntil(link: Link, subject: string, until: Date): Promise<LastUntil> {
  const deadline = link.clock.monotonicMs() + readLimitMs(link);
  const info = await askPatiently(link, deadline, () => link.messages.info(Streams.events.name));
  if (info.messages === 0) return {};
  let best: number | undefined;
  // Below `from` everything is known to be old enough, from `end` on nothing is.
  let from = info.firstSeq;
  let end = info.lastSeq + 1;
  while (from < end) {
    const middle = from + Math.floor((end - from) / 2);
    const next = await askPatiently(link, deadline, () => link.messages.next(Streams.events.name, subject, middle));
    if (next !== undefined && next.time <= until) {
      best = next.seq;
      from = next.seq + 1;
    } else end = middle;
  }
  return { ...(best !== undefined && { seq: best }), keptSince: info.firstTime };
}
