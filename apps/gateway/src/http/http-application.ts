import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { MusterError } from '#contracts';
import { ServiceContext } from '#service';
import { markUnixSocket } from '../auth/bearer.guard.js';
import { Gateways } from '../auth/gateways.js';
import { OpenNetworks } from '../auth/open-networks.js';
import { TokenBook } from '../auth/token-book.js';
import { TokenFile } from '../auth/token-file.js';
import { Tokens } from '../auth/tokens.js';
import { BODY_LIMIT, requireJson } from '../body/json-text.js';
import { refuseTooLarge } from '../body/too-large.js';
import { ApiDocument, describeApi } from '../openapi/document.js';
import { refuseForeignPage } from '../auth/foreign-page.js';
import { HttpModule } from './http.module.js';
import { ProblemFilter } from './problem.filter.js';
import { canonicalTarget, isOwnSurface } from '../auth/surface.js';

/** Requests in, answers out; it listens nowhere itself. */
export interface HttpApplication {
  handle(req: IncomingMessage, res: ServerResponse, unix: boolean): void;
  /** What the router serves: `GET /v1/nodes/:name`. */
  readonly routes: readonly string[];
  close(): Promise<void>;
}

/** @throws MusterError CONFIG_INVALID when the tokens file is missing or wrong. */
export async function createHttpApplication(context: ServiceContext): Promise<HttpApplication> {
  const { tokens, listen, trustProxy: proxies = [] } = context.config.http;
  const file = tokens === undefined ? undefined : TokenFile.read(tokens);
  const open = openNetworks(context);
  const made = file === undefined ? undefined : new TokenBook(context.bus);
  const known = new Tokens(file, made, listen.includes('unix:'));
  const problems = new ProblemFilter(context.log);
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: 300 },
    trustProxy: proxies,
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply): void =>
      problems.answer(noRoute(request), request, harmless(reply)),
  });
  const app = await NestFactory.create<NestFastifyApplication>(HttpModule.for(context, known, open), adapter, {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  const fastify = adapter.getInstance();
  const routes: string[] = [];
  fastify.addHook('onRoute', ({ method, url }) => void routes.push(...[method].flat().map((m) => `${m} ${url}`)));
  const unixRequests = new WeakSet<IncomingMessage>();
  // Old clients send the list of nodes in the body of a GET.
  fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  fastify.removeAllContentTypeParsers();
  // Each surface reads bodies by its own rules; here they are only bounded.
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  fastify.addHook('onRequest', (request, reply, done) => {
    harmless(reply);
    const unix = unixRequests.has(request.raw);
    if (unix) markUnixSocket(request.raw);
    refuseForeignPage(request.headers, tokens !== undefined, unix);
    refuseTooLarge(request.headers);
    if (isOwnSurface(request.url)) requireJson(request.headers);
    done();
  });
  await app.init();
  app.get(ApiDocument).value = describeApi(app);
  await fastify.ready();
  return {
    routes,
    handle(req, res, unix) {
      if (unix) unixRequests.add(req);
      req.url = canonicalTarget(req.url ?? '/');
      fastify.routing(req, res);
    },
    close: async () => {
      await made?.close();
      await app.close();
    },
  };
}

/** @throws MusterError CONFIG_INVALID */
function openNetworks({ config, log, clock }: ServiceContext): OpenNetworks {
  const { allowFrom = [] } = config.compat;
  const { tokens, trustProxy = [] } = config.http;
  if (allowFrom.length === 0) return new OpenNetworks({ allowFrom, gateways: () => [], trustProxy, ownNames: [] });
  if (tokens === undefined)
    throw new MusterError(
      'CONFIG_INVALID',
      'compat.allowFrom: nobody is asked for a token without http.tokens; configure that, or remove compat.allowFrom',
    );
  const gateways = new Gateways({ log, now: () => clock.monotonicMs() });
  log.warn(
    { allowFrom, never: gateways.current() },
    'the clusterm surface is open without a token from these networks',
  );
  const ownNames = [hostname(), ...(config.host.name === undefined ? [] : [config.host.name])];
  return new OpenNetworks({
    allowFrom,
    gateways: () => gateways.current(),
    trustProxy,
    ownNames: ownNames.map((name) => name.toLowerCase()),
  });
}

/** Whatever stands in an answer, no browser takes it for something else than it says to be. */
const harmless = (reply: FastifyReply): FastifyReply => reply.header('x-content-type-options', 'nosniff');

/** The path is no text, or a name in it is longer than any. */
const noRoute = ({ url }: FastifyRequest): MusterError =>
  isOwnSurface(url)
    ? new MusterError('BAD_REQUEST', 'the path is not valid UTF-8 in percent-encoding, or a name in it is too long')
    : new MusterError('NOT_FOUND', '404 page not found');
