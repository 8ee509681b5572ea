import { createParamDecorator, type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type By, MusterError, NAME_PATTERN } from '#contracts';
import { ServiceContext } from '#service';
import { CLUSTERM_KEY } from './surface.js';
import { credentialOf } from './credential.js';
import { GuessedTokens } from './guessed-tokens.js';
import { FROM_OPEN_NETWORK, OpenNetworks, type Sender } from './open-networks.js';
import { mayAct, type Needs, type Role, ROLE_KEY } from './roles.js';
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
    private readonly openNetworks: OpenNetworks,
    context: ServiceContext,
  ) {
    this.guesses = new GuessedTokens(context.log, () => context.clock.monotonicMs());
  }

  canActivate(context: ExecutionContext): boolean {
    const needs = this.reflector.get<Needs | undefined>(ROLE_KEY, context.getHandler());
    if (needs === undefined) throw new MusterError('FORBIDDEN', 'this route is open to nobody');
    if (needs === 'anyone') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    // Agent tokens are inventory's to know: the handler asks it.
    if (needs === 'agent-token') return agentTokenOf(request) !== '';
    const clusterm = this.reflector.get<boolean | undefined>(CLUSTERM_KEY, context.getClass()) === true;
    const identity = this.identify(request, http.getResponse<FastifyReply>().raw, { needs, clusterm });
    if (!mayAct(identity.role, needs))
      throw new MusterError('FORBIDDEN', `"${identity.name}" is ${identity.role}; this needs ${needs}`, { needs });
    identities.set(request.raw, identity);
    return true;
  }

  private identify(
    request: FastifyRequest,
    answer: ServerResponse,
    route: { needs: Role; clusterm: boolean },
  ): Identity {
    if (!this.tokens.asked || byUnixSocket.has(request.raw)) return local(request);
    const shown = credentialOf(request.headers.authorization, { basic: route.clusterm });
    if (shown.kind === 'token') {
      const { token } = shown;
      return this.guesses.check(request, token, () => this.tokens.identify(token, answer));
    }
    if (!route.clusterm) throw new MusterError('UNAUTHORIZED', NEEDED);
    // Who shows something is judged by that alone: what cannot be read must not open more than a wrong token.
    const asks = shown.kind === 'none' && mayAct(FROM_OPEN_NETWORK.role, route.needs);
    const { admitted, why } = asks ? this.openNetworks.judge(senderOf(request)) : { admitted: false };
    if (admitted) return FROM_OPEN_NETWORK;
    const also = why === undefined ? '' : `; compat.allowFrom does not hold for this request: ${why}`;
    throw new MusterError('UNAUTHORIZED', `${NEEDED_BY_OLD_CLIENTS}${also}`);
  }
}

const NEEDED = 'a token is needed: Authorization: Bearer …';
const NEEDED_BY_OLD_CLIENTS = `${NEEDED}, or as the password of HTTP Basic (clusterctl -u any:TOKEN@host:port)`;

const senderOf = ({ ip: address, raw, headers }: FastifyRequest): Sender => ({
  address,
  peer: raw.socket.remoteAddress,
  headers,
});

/** @throws MusterError UNAUTHORIZED */
function agentTokenOf({ headers }: FastifyRequest): string {
  const shown = credentialOf(headers.authorization, { basic: false });
  if (shown.kind === 'token') return shown.token;
  throw new MusterError('UNAUTHORIZED', 'an agent token is needed: Authorization: Bearer …');
}

/** `@AgentToken() token: string`: what the caller shows; inventory is asked whether it is good. */
export const AgentToken = createParamDecorator((_: unknown, context: ExecutionContext): string =>
  agentTokenOf(context.switchToHttp().getRequest<FastifyRequest>()),
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
