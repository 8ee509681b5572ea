import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Tokens } from '../auth/tokens.js';
import { HttpModule } from '../http/http.module.js';
import { describeApi } from './document.js';

/** The reference, without NATS and without anything that would need it: nothing is instantiated. */
export async function describeWithoutServer(): Promise<OpenAPIObject> {
  const app = await NestFactory.create<NestFastifyApplication>(
    HttpModule.for(undefined as never, new Tokens(undefined), undefined as never),
    new FastifyAdapter(),
    { preview: true, logger: false, abortOnError: false },
  );
  return describeApi(app);
}
