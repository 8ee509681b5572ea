import {
  MusterError,
  Subjects,
  isInbox,
  isWireError,
  toldOutside,
  type RpcAnswer,
  type RpcRequest,
  type RpcVerb,
  type ServiceName,
} from '#contracts';
import type { Link } from '../ports/link.js';
import type { Closable } from '../ports/types.js';
import { readAnswer } from './trailing-text.js';

/** `inventory.nodes.list` → `muster.rpc.inventory.nodes.list` */
export function rpcSubject(verb: RpcVerb): string {
  const dot = verb.indexOf('.');
  return Subjects.rpc(verb.slice(0, dot) as ServiceName, verb.slice(dot + 1));
}

interface NestAnswer {
  response?: unknown;
  err?: unknown;
}

/**
 * Request to a Nest service in Nest's envelope, which says that a long text may trail its answer. NO_RESPONDER when no
 * replica listens, TIMEOUT when one is frozen (it may have done the work), BUS_UNAVAILABLE without a connection, else the
 * service's own error.
 */
export async function call<V extends RpcVerb>(
  link: Link,
  verb: V,
  request: RpcRequest<V>,
  timeoutMs: number,
): Promise<RpcAnswer<V>> {
  const subject = rpcSubject(verb);
  const envelope = JSON.stringify({ pattern: subject, data: request, id: link.random.uuid(), trailing: true });
  const answer = readAnswer(await link.wire.request(subject, envelope, { timeoutMs, namesReply: true })) as NestAnswer;
  if (answer.err !== undefined && answer.err !== null) throw remoteError(answer.err, subject);
  return answer.response as RpcAnswer<V>;
}

const remoteError = (err: unknown, subject: string): MusterError => {
  if (isWireError(err)) return MusterError.from(err);
  const inner = (err as { message?: unknown }).message;
  return new MusterError('INTERNAL', typeof inner === 'string' ? inner : JSON.stringify(err), { subject });
};

/** Plain JSON request. As {@link call}, without the envelope. */
export async function ask<A>(link: Link, subject: string, request: unknown, timeoutMs: number): Promise<A> {
  const answer: unknown = JSON.parse(await link.wire.request(subject, JSON.stringify(request ?? {}), { timeoutMs }));
  if (isWireError(answer)) throw MusterError.from(answer);
  return answer as A;
}

/**
 * Answers plain JSON requests; what the handler throws travels as WireError with `ok: false`. Closing waits for those
 * in work.
 */
export function answer<Q, A>(
  link: Link,
  subject: string,
  fn: (request: Q, subject: string) => Promise<A> | A,
  o: { queue?: string } = {},
): Closable {
  return answerText(link, subject, (text, at) => fn(readJson(text) as Q, at), o);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text) as unknown;
  } catch (e) {
    throw new MusterError('BAD_REQUEST', 'the request is not JSON', {}, { cause: e });
  }
}

/** As {@link answer}, where the handler reads the request itself: it also sees what is no JSON. */
export function answerText<A>(
  link: Link,
  subject: string,
  fn: (request: string, subject: string) => Promise<A> | A,
  o: { queue?: string } = {},
): Closable {
  const inWork = new Set<Promise<void>>();
  const reply = async (text: string, at: string): Promise<string> => {
    try {
      return JSON.stringify((await fn(text, at)) ?? {});
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code === 'INTERNAL') link.log.error({ err: e, subject: at }, 'a request failed');
      return JSON.stringify({ ok: false, ...toldOutside(error).toJSON() });
    }
  };
  const sub = link.wire.subscribe(subject, {
    ...o,
    onRefused: (err) => link.log.error({ err, subject }, 'cannot answer on this subject'),
    onMessage: (msg) => {
      if (msg.reply !== undefined && !isInbox(msg.reply)) {
        link.log.warn({ subject: msg.subject, reply: msg.reply }, 'not carried out: its answer is to go to no inbox');
        return;
      }
      const work = reply(msg.text, msg.subject)
        .then((text) => msg.respond(text))
        .catch((e: unknown) => link.log.warn({ err: e, subject }, 'an answer was lost'))
        .finally(() => inWork.delete(work));
      inWork.add(work);
    },
  });
  return {
    async close() {
      sub.close();
      await Promise.all([...inWork]);
    },
  };
}
