import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceContext } from '#service';
import { markUnixSocket } from '../auth/bearer.guard.js';
import { TokenBook } from '../auth/token-book.js';
import { TokenFile } from '../auth/token-file.js';
import { Tokens } from '../auth/tokens.js';
import { BODY_LIMIT, requireJson } from '../body/json-text.js';
import { refuseTooLarge } from '../body/too-large.js';
import { ApiDocument, describeApi } from '../openapi/document.js';
import { refuseForeignPage } from './foreign-page.js';
import { isOwnSurface } from './surface.js';
import { HttpModule } from './http.module.js';

/** Requests in, answers out; it listens nowhere itself. */
export interface HttpApplication {
  handle(req: IncomingMessage, res: ServerResponse, unix: boolean): void;
  close(): Promise<void>;
}

/** @throws MusterError CONFIG_INVALID when the tokens file is missing or wrong. */
export async function createHttpApplication(context: ServiceContext): Promise<HttpApplication> {
  const { tokens, listen, trustProxy = [] } = context.config.http;
  const file = tokens === undefined ? undefined : TokenFile.read(tokens);
  const made = file === undefined ? undefined : new TokenBook(context.bus);
  const known = new Tokens(file, made, listen.includes('unix:'));
  const adapter = new FastifyAdapter({ bodyLimit: BODY_LIMIT, routerOptions: { maxParamLength: 300 }, trustProxy });
  const app = await NestFactory.create<NestFastifyApplication>(HttpModule.for(context, known), adapter, {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  const fastify = adapter.getInstance();
  const unixRequests = new WeakSet<IncomingMessage>();
  // Old clients send the list of nodes in the body of a GET.
  fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  fastify.removeAllContentTypeParsers();
  // Each surface reads bodies by its own rules; here they are only bounded.
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  fastify.addHook('onRequest', (request, _reply, done) => {
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
    handle(req, res, unix) {
      if (unix) unixRequests.add(req);
      fastify.routing(req, res);
    },
    close: async () => {
      await made?.close();
      await app.close();
    },
  };
}
