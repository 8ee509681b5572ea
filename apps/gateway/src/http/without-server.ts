import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Tokens } from '../auth/tokens.js';
import { HttpModule } from './http.module.js';
import { accessPage } from '../openapi/access-table.js';
import { describeApi } from '../openapi/document.js';
import { routesOf } from '../openapi/routes.js';

/** The application as its decorators declare it, without NATS and without anything that would need it: nothing is instantiated. */
export const applicationWithoutServer = (): Promise<NestFastifyApplication> =>
  NestFactory.create<NestFastifyApplication>(
    HttpModule.for(undefined as never, new Tokens(undefined), undefined as never),
    new FastifyAdapter(),
    { preview: true, logger: false, abortOnError: false },
  );

export const describeWithoutServer = async (): Promise<OpenAPIObject> => describeApi(await applicationWithoutServer());

/** docs/access.md */
export const accessPageWithoutServer = async (): Promise<string> =>
  accessPage(routesOf(await applicationWithoutServer()));
