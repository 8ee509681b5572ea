import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { MusterError, ReadyStream } from '#contracts';
import { ApiErrors, ApiFailure } from '../ports/log-failure.js';
import { isPassing } from './failures.js';
import type { Link } from './link.js';

interface ApiAnswer {
  error?: { code: number; err_code?: number; description: string };
}

const parse = <T>(text: string): T => {
  const answer = JSON.parse(text) as T & ApiAnswer;
  if (answer.error) throw new ApiFailure(answer.error.err_code ?? 0, answer.error.code, answer.error.description);
  return answer;
};

/** Links that have seen the storage whole: it stays so, a server that restarts reads it before it listens. */
const whole = new WeakSet<Link>();

/** Before anything is read: ApiFailure "stream not found" until everything was created; see ReadyStream. */
export async function storageIsWhole(link: Link): Promise<void> {
  if (whole.has(link)) return;
  await api(link, `STREAM.INFO.${ReadyStream.name}`);
  whole.add(link);
}

/** One request to `$JS.API.<verb>`. Throws ApiFailure, or what {@link Link.request} throws. */
export async function api<T>(link: Link, verb: string, body?: unknown, timeoutMs = 2000): Promise<T> {
  const msg = await link.request(`$JS.API.${verb}`, body === undefined ? '' : JSON.stringify(body), { timeoutMs });
  return parse<T>(msg.string());
}

export interface StoreOptions {
  /** Makes the message unique: a second one within two minutes is acknowledged and dropped. @default random */
  id?: string;
  /** Only when this is still the subject's last sequence; 0 = the subject is new. */
  expect?: number;
  headers?: [name: string, value: string][];
  /** In all, over every try. @default 5000 */
  timeoutMs?: number;
}

export type Stored = { seq: number } | { conflict: true; tries: number };

/**
 * Publishes into a stream and waits for the acknowledgement. A lost acknowledgement is asked for again with the same
 * id, so that the message is stored once; `conflict` means that `expect` no longer held.
 */
export async function store(
  link: Link,
  subject: string,
  payload: Uint8Array | string,
  o: StoreOptions = {},
): Promise<Stored> {
  const deadline = performance.now() + (o.timeoutMs ?? 5000);
  const head = storeHeaders(o);
  for (let tries = 1; ; tries++) {
    const left = deadline - performance.now();
    try {
      const msg = await link.request(subject, payload, {
        timeoutMs: Math.max(50, Math.min(left, 1500)),
        headers: head,
      });
      return { seq: parse<{ seq: number }>(msg.string()).seq };
    } catch (e) {
      if (e instanceof ApiFailure && (ApiErrors.wrongRevision as readonly number[]).includes(e.errCode))
        return { conflict: true, tries };
      const passing = e instanceof ApiFailure ? e.passing : e instanceof MusterError && isPassing(e);
      if (!passing) throw e instanceof ApiFailure ? apiError(e, subject) : e;
      if (link.closed || performance.now() + 100 >= deadline) throw e instanceof ApiFailure ? apiError(e, subject) : e;
      await link.whenConnected(Math.max(0, deadline - performance.now()));
      await pause(50 + Math.random() * 50);
    }
  }
}

export const apiError = (e: ApiFailure, subject: string): MusterError =>
  new MusterError(
    e.passing ? 'BUS_UNAVAILABLE' : 'INTERNAL',
    `${subject}: ${e.message}`,
    { errCode: e.errCode },
    { cause: e },
  );

function storeHeaders(o: StoreOptions): MsgHdrs {
  const h = headers();
  h.set('Nats-Msg-Id', o.id ?? randomUUID());
  if (o.expect !== undefined) h.set('Nats-Expected-Last-Subject-Sequence', String(o.expect));
  for (const [name, value] of o.headers ?? []) h.set(name, value);
  return h;
}

export interface StoredMessage {
  subject: string;
  seq: number;
  text: string;
  headers: Record<string, string>;
}

/** The last message of a subject, read from the stream's leader (never "direct get", which may be stale). */
export async function lastMessage(link: Link, stream: string, subject: string): Promise<StoredMessage | undefined> {
  try {
    await storageIsWhole(link);
    const { message: m } = await api<{
      message: { subject: string; seq: number; data?: string; hdrs?: string };
    }>(link, `STREAM.MSG.GET.${stream}`, { last_by_subj: subject });
    return {
      subject: m.subject,
      seq: m.seq,
      text: Buffer.from(m.data ?? '', 'base64').toString('utf8'),
      headers: parseHeaders(Buffer.from(m.hdrs ?? '', 'base64').toString('utf8')),
    };
  } catch (e) {
    if (e instanceof ApiFailure && e.errCode === ApiErrors.noMessage) return undefined;
    throw e;
  }
}

/** Does the stream hold a message of this sequence, or of a later one? Asked of its leader. */
export async function hasMessageFrom(link: Link, stream: string, seq: number): Promise<boolean> {
  try {
    await api(link, `STREAM.MSG.GET.${stream}`, { seq, next_by_subj: '>' });
    return true;
  } catch (e) {
    if (e instanceof ApiFailure && e.errCode === ApiErrors.noMessage) return false;
    throw e;
  }
}

function parseHeaders(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const line of text.split('\r\n').slice(1)) {
    const at = line.indexOf(':');
    if (at > 0) out[line.slice(0, at)] = line.slice(at + 1).trim();
  }
  return out;
}
