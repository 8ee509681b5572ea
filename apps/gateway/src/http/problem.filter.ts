import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ErrorCodes, type ErrorCode, MusterError, toldOutside } from '#contracts';
import { isIdentified } from '../auth/bearer.guard.js';
import { hangUpLater, tooLarge } from '../body/too-large.js';
import type { StoreHealth } from '../store/store-health.js';
import { isOwnSurface } from '../auth/surface.js';

/**
 * Seconds after which a 503 may be tried again: the bus reconnects in well under one, a worker needs to start; a 429 says
 * itself how many.
 */
function retryAfter({ code, facts }: MusterError): number {
  if (typeof facts['retryAfter'] === 'number') return facts['retryAfter'];
  return code === 'NO_WORKERS' || code === 'DRIVER_UNAVAILABLE' ? 5 : 1;
}

/** Codes that have it beside those of status 503. */
const WAITED_FOR: readonly ErrorCode[] = ['IDEMPOTENCY_IN_PROGRESS', 'TOO_MANY_TRIES'];

/** RFC 9457; the facts of the error stand beside the standard members, which they cannot replace. */
function problem(error: MusterError): Record<string, unknown> {
  const { text: _text, ...facts } = error.facts;
  return {
    ...facts,
    type: `urn:muster:error:${error.code}`,
    title: error.code.toLowerCase().replaceAll('_', ' '),
    status: error.status,
    code: error.code,
    detail: error.message,
  };
}

/** Of tokens, which the old server did not know. */
const NOT_ITS_OWN: readonly ErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_TRIES'];

/** The clusterm surface knows three statuses; its texts come with the error where the contract fixes them. */
function clustermText(error: MusterError): { status: number; text: string } {
  if (NOT_ITS_OWN.includes(error.code)) return { status: error.status, text: error.message };
  if (error.code === 'NOT_FOUND') return { status: 404, text: '404 page not found' };
  const { text } = error.facts;
  return { status: 500, text: oneLine(typeof text === 'string' ? text : error.message) };
}

/** A name that somebody sent may stand in it. */
const oneLine = (text: string): string => text.replaceAll('\r', '\\r').replaceAll('\n', '\\n');

/** What a client may show (RFC 9110, 11.6.1); some wait to be asked before they send a password. */
const BEARER = 'Bearer realm="muster"';
const BASIC = 'Basic realm="muster", charset="UTF-8"';

/** Every error of every route ends here. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  /** `store`: absent for what is refused before any route is found. */
  constructor(
    private readonly log: Logger,
    private readonly store?: Pick<StoreHealth, 'named'>,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    this.answer(thrown, request, reply);
  }

  /** For what goes wrong before a route is found, too. */
  answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const known = translate(thrown, request);
    if (known.code === 'INTERNAL')
      this.log.error({ err: thrown, method: request.method, url: request.url }, 'request failed');
    const outside = toldOutside(known);
    const error = this.store?.named(outside, isIdentified(request)) ?? outside;
    // A stream that breaks after its first byte can only be cut.
    if (reply.sent || reply.raw.headersSent) return void reply.raw.destroy();
    if (ErrorCodes[error.code].retry && (error.status === 503 || WAITED_FOR.includes(error.code)))
      void reply.header('retry-after', retryAfter(error));
    if (error.code === 'TOO_LARGE') reply.raw.once('finish', () => hangUpLater(request.raw));
    if (error.code === 'UNAUTHORIZED')
      void reply.header('www-authenticate', isOwnSurface(request.url) ? BEARER : [BEARER, BASIC]);
    if (isOwnSurface(request.url)) {
      void reply
        .status(error.status)
        .type('application/problem+json')
        .send(JSON.stringify(problem(error)));
      return;
    }
    const { status, text } = clustermText(error);
    void reply.status(status).type('text/plain; charset=utf-8').send(`${text}\n`);
  }
}

function translate(thrown: unknown, request: FastifyRequest): MusterError {
  if (!(thrown instanceof HttpException)) return MusterError.from(thrown);
  const status = thrown.getStatus();
  if (status === 404) return new MusterError('NOT_FOUND', `no route ${request.method} ${request.url.split('?')[0]}`);
  // Something that is not even a media type; of those that are, each surface has said before which it takes.
  if (status === 415)
    return isOwnSurface(request.url)
      ? new MusterError('UNSUPPORTED_MEDIA_TYPE', 'send the body as application/json')
      : new MusterError('NOT_FOUND', '404 page not found');
  if (status === 413) return tooLarge();
  if (status < 500) return new MusterError('BAD_REQUEST', thrown.message, {}, { cause: thrown });
  return MusterError.from(thrown);
}
