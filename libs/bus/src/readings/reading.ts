import { MusterError } from '#contracts';

/** Between two signs of life of the server to who reads, ms. */
export const HEARTBEAT_MS = 1_000;

export type ReadStart =
  { from: 'last-per-subject' | 'all' | 'new' } | { from: 'seq'; seq: number } | { from: 'time'; time: Date };

/** What one reading of a stream is about. */
export interface Reading {
  filter: string;
  start: ReadStart;
}

/** One that a service asks inventory for; times as text. */
export interface ReadingRequest {
  stream: string;
  filter: string;
  start: { from: ReadStart['from']; seq?: number; time?: string };
  /** One token: it becomes the end of the subject on which the messages come, and of the consumer's name. */
  reading: string;
}

const ns = (ms: number): number => ms * 1_000_000;
const TOKEN = /^[A-Za-z0-9]{1,64}$/;
const FILTER = /^[^\s]{1,1024}$/;

const deliverPolicy = {
  'last-per-subject': 'last_per_subject',
  all: 'all',
  new: 'new',
  seq: 'by_start_sequence',
  time: 'by_start_time',
} as const satisfies Record<ReadStart['from'], string>;

/** What the server is asked for, as its API has it: a consumer that sends to `deliverTo`, and is gone soon after nobody listens there. */
export const readingConfig = ({ start, filter }: Reading, deliverTo: string): Record<string, unknown> => ({
  deliver_subject: deliverTo,
  deliver_policy: deliverPolicy[start.from],
  ...(start.from === 'seq' && { opt_start_seq: start.seq }),
  ...(start.from === 'time' && { opt_start_time: start.time.toISOString() }),
  filter_subject: filter,
  ack_policy: 'none',
  replay_policy: 'instant',
  max_deliver: 1,
  mem_storage: true,
  num_replicas: 1,
  flow_control: true,
  idle_heartbeat: ns(HEARTBEAT_MS),
  inactive_threshold: ns(5 * HEARTBEAT_MS),
});

export const readingRequest = (stream: string, { filter, start }: Reading, reading: string): ReadingRequest => ({
  stream,
  filter,
  start: start.from === 'time' ? { from: 'time', time: start.time.toISOString() } : start,
  reading,
});

/**
 * The reading that a service asked for.
 * @param readable streams that it may read
 * @throws MusterError BAD_REQUEST; FORBIDDEN where it may not read the stream
 */
export function decideReading(
  readable: readonly string[],
  request: unknown,
): Reading & Pick<ReadingRequest, 'stream' | 'reading'> {
  const { stream, filter, start, reading } = (request ?? {}) as Partial<Record<keyof ReadingRequest, unknown>>;
  if (typeof stream !== 'string' || !readable.includes(stream))
    throw new MusterError('FORBIDDEN', `this service reads no stream ${JSON.stringify(stream)}`);
  if (typeof filter !== 'string' || !FILTER.test(filter)) throw refused('filter', 'must be a subject');
  if (typeof reading !== 'string' || !TOKEN.test(reading)) throw refused('reading', 'must be letters and digits');
  return { stream, filter, start: startOf(start), reading };
}

function startOf(start: unknown): ReadStart {
  const { from, seq, time } = (start ?? {}) as Record<string, unknown>;
  switch (from) {
    case 'last-per-subject':
    case 'all':
    case 'new':
      return { from };
    case 'seq':
      if (Number.isSafeInteger(seq) && (seq as number) >= 1) return { from, seq: seq as number };
      throw refused('start.seq', 'must be a sequence, 1 or more');
    case 'time': {
      const at = new Date(typeof time === 'string' ? time : NaN);
      if (!Number.isNaN(at.getTime())) return { from, time: at };
      throw refused('start.time', 'must be a time');
    }
    default:
      throw refused('start.from', 'is not known');
  }
}

const refused = (member: string, why: string): MusterError =>
  new MusterError('BAD_REQUEST', `the reading's ${member} ${why}`, { member });
