import type { StreamInfo } from '@nats-io/jetstream';
import { Streams } from '#contracts';
import { api } from '../nats/jetstream-api.js';
import { ApiErrors, ApiFailure } from '../ports/log-failure.js';
import type { Link } from '../nats/link.js';

/** Where a subject stood at a moment. */
export interface LastUntil {
  /** Of its last message stored at or before that moment; absent: none of it is kept. */
  seq?: number;
  /** Since when the stream holds everything, by the server's clock; absent: it is empty. */
  keptSince?: Date;
}

interface Found {
  seq: number;
  time: Date;
}

/**
 * The last message of a subject that was stored at or before a moment, by the server's clock. Halves the stream until it
 * is found: some twenty small questions, however much of the subject is stored behind that moment.
 */
export async function lastUntil(link: Link, subject: string, until: Date): Promise<LastUntil> {
  const { state } = await api<StreamInfo>(link, `STREAM.INFO.${Streams.events.name}`);
  if (state.messages === 0) return {};
  let best: number | undefined;
  // Below `from` everything is known to be old enough, from `end` on nothing is.
  let from = state.first_seq;
  let end = state.last_seq + 1;
  while (from < end) {
    const middle = from + Math.floor((end - from) / 2);
    const next = await nextOf(link, subject, middle);
    if (next !== undefined && next.time <= until) {
      best = next.seq;
      from = next.seq + 1;
    } else end = middle;
  }
  return { ...(best !== undefined && { seq: best }), keptSince: new Date(state.first_ts) };
}

/** The first message of the subject from a sequence on. */
async function nextOf(link: Link, subject: string, seq: number): Promise<Found | undefined> {
  try {
    const { message } = await api<{ message: { seq: number; time: string } }>(
      link,
      `STREAM.MSG.GET.${Streams.events.name}`,
      { seq, next_by_subj: subject },
    );
    return { seq: message.seq, time: new Date(message.time) };
  } catch (e) {
    if (e instanceof ApiFailure && e.errCode === ApiErrors.noMessage) return undefined;
    throw e;
  }
}
