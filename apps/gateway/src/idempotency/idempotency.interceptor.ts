import {
  type CallHandler,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { MusterError } from '#contracts';
import { ServiceContext } from '#service';
import { callerOf } from '../auth/bearer.guard.js';
import { type Needs, ROLE_KEY } from '../auth/roles.js';
import { type KeptAnswer, KeptAnswers, type Turn } from './kept-answers.js';
import { type KeyedRequest, readKey, recordKey } from './request-key.js';

const IDEMPOTENCY_HEADER = 'idempotency-key';
const SHOWN_ONCE = 'muster:shown-once';

/** Members of the route's answer that are secrets: they are not kept, so an answer that is repeated is without them. */
export const ShownOnce = (...members: string[]): MethodDecorator => SetMetadata(SHOWN_ONCE, members);

/**
 * `@RequestKey() key: { key?: string }`, for requests that the other side must not carry out twice even where the
 * gateway dies before it could keep the answer. Not the caller's own key but the name that it is kept under.
 */
export const RequestKey = createParamDecorator((_: unknown, context: ExecutionContext): { key?: string } => {
  const keyed = keyedRequest(context.switchToHttp().getRequest<FastifyRequest>());
  return keyed === undefined ? {} : { key: recordKey(keyed) };
});

/**
 * A POST of `/v1` with an Idempotency-Key is carried out once: the same request with the same key, by the same caller,
 * gets the first answer again. Failures of ours (5xx) are not kept: they may be tried again with the same key. Where the
 * guard does not know the caller nothing is kept: anybody would get another's answer, and could leave any number of them.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly answers: KeptAnswers,
    private readonly reflector: Reflector,
    private readonly context: ServiceContext,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const keyed = keyedRequest(http.getRequest<FastifyRequest>());
    const needs = this.reflector.get<Needs | undefined>(ROLE_KEY, context.getHandler());
    if (keyed === undefined || needs === 'anyone' || needs === 'agent-token') return next.handle();
    const begun = await this.answers.begin(keyed);
    if ('answer' in begun) {
      void http.getResponse<FastifyReply>().header('idempotent-replayed', 'true');
      return of(repeated(begun.answer));
    }
    const secrets = this.reflector.get<string[] | undefined>(SHOWN_ONCE, context.getHandler()) ?? [];
    return of(await this.once(begun.turn, () => lastValueFrom(next.handle(), { defaultValue: undefined }), secrets));
  }

  private async once(turn: Turn, act: () => Promise<unknown>, secrets: string[]): Promise<unknown> {
    let body: unknown;
    try {
      body = await act();
    } catch (thrown) {
      const error = MusterError.from(thrown);
      await this.note(() =>
        error.status < 500 ? this.answers.keep(turn, { error: error.toJSON() }) : this.answers.forget(turn),
      );
      throw thrown;
    }
    await this.note(() => this.answers.keep(turn, { body: without(body, secrets) }));
    return body;
  }

  /** What was done is done: its answer goes out also where it cannot be kept. */
  private async note(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (err) {
      this.context.log.warn({ err }, 'the answer to a request with an Idempotency-Key could not be kept');
    }
  }
}

function keyedRequest(request: FastifyRequest): KeyedRequest | undefined {
  const header = request.headers[IDEMPOTENCY_HEADER];
  if (header === undefined || request.method !== 'POST' || !request.url.startsWith('/v1/')) return undefined;
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { by: callerOf(request).by, key: readKey(header), method: 'POST', url: request.url, body };
}

function repeated(answer: KeptAnswer): unknown {
  if ('error' in answer) throw MusterError.from(answer.error);
  return answer.body;
}

function without(body: unknown, members: string[]): unknown {
  if (typeof body !== 'object' || body === null || members.length === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !members.includes(name)));
}
