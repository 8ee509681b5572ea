import { createParamDecorator, type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type By, MusterError, NAME_PATTERN } from '#contracts';
import { ServiceContext } from '#service';
import { GuessedTokens } from './guessed-tokens.js';
import { mayAct, type Needs, ROLE_KEY } from './roles.js';
import type { Identity } from './token-file.js';
import { Tokens } from './tokens.js';

const identities = new WeakMap<IncomingMessage, Identity>();
const byUnixSocket = new WeakSet<IncomingMessage>();

/** A unix socket is guarded by its file's mode (600): who may open it is the operator. */
export const markUnixSocket = (req: IncomingMessage): void => void byUnixSocket.add(req);

/** Lets a request through when its token's role reaches the route's. */
@Injectable()
export class BearerGuard implements CanActivate {
  private readonly guesses: GuessedTokens;

  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: Tokens,
    context: ServiceContext,
  ) {
    this.guesses = new GuessedTokens(context.log, () => context.clock.monotonicMs());
  }

  canActivate(context: ExecutionContext): boolean {
    const needs = this.reflector.get<Needs | undefined>(ROLE_KEY, context.getHandler());
    if (needs === undefined) throw new MusterError('FORBIDDEN', 'this route is open to nobody');
    // Agent tokens are inventory's to know: the handler asks it.
    if (needs === 'anyone' || needs === 'agent-token') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const identity = this.identify(request, http.getResponse<FastifyReply>().raw);
    if (!mayAct(identity.role, needs))
      throw new MusterError('FORBIDDEN', `"${identity.name}" is ${identity.role}; this needs ${needs}`, { needs });
    identities.set(request.raw, identity);
    return true;
  }

  private identify(request: FastifyRequest, answer: ServerResponse): Identity {
    if (!this.tokens.asked || byUnixSocket.has(request.raw)) return local(request);
    const token = shownToken(request);
    if (token === undefined) throw new MusterError('UNAUTHORIZED', 'a token is needed: Authorization: Bearer …');
    return this.guesses.check(request, token, () => this.tokens.identify(token, answer));
  }
}

const shownToken = (request: FastifyRequest): string | undefined =>
  /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];

/** `@ShownToken() token?: string`: what the caller shows, for routes that ask elsewhere whether it is good. */
export const ShownToken = createParamDecorator((_: unknown, context: ExecutionContext): string | undefined =>
  shownToken(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Without tokens nobody is checked; the name that the client gives itself is kept for the record, and marked so. */
function local(request: FastifyRequest): Identity {
  const said = request.headers['x-muster-user'];
  return { name: typeof said === 'string' && NAME_PATTERN.test(said) ? `local:${said}` : 'local', role: 'admin' };
}

/** Who sent the request, once the guard has let it through. */
export const callerOf = (request: FastifyRequest): By => ({
  by: identities.get(request.raw)?.name ?? 'nobody',
  from: addressOf(request),
});

/** The guard knows who sent it, and has let it through. */
export const isIdentified = (request: FastifyRequest): boolean => identities.has(request.raw);

/** Where it came from, as the audit has it; of a proxy that is trusted, as that says. */
export const addressOf = (request: FastifyRequest): string =>
  byUnixSocket.has(request.raw) ? 'unix' : (request.ip ?? 'unknown').slice(0, 64);

/** `@Who() who: By`: the caller, for requests that are recorded. */
export const Who = createParamDecorator((_: unknown, context: ExecutionContext): By =>
  callerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
