import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { MusterError } from '#contracts';
import { bodyText, isJsonType } from '../body/json-text.js';
import { type ClustermBody, parseClustermBody } from './clusterm-body.js';

/** The body of a POST. Another media type than JSON, or none, finds no route: as the old server has it. */
export const PostBody = createParamDecorator((_: unknown, context: ExecutionContext): ClustermBody => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  if (!isJsonType(request.headers['content-type'])) throw new MusterError('NOT_FOUND', '404 page not found');
  return parseClustermBody(textOf(request));
});

/** A GET may bring its list in a body too. */
export const GetBody = createParamDecorator((_: unknown, context: ExecutionContext): ClustermBody =>
  parseClustermBody(textOf(context.switchToHttp().getRequest<FastifyRequest>())),
);

/** A name in the path, as it came: what is wrong with it is said by the texts of this surface. */
export const PathName = createParamDecorator((name: string, context: ExecutionContext): string => {
  const params = context.switchToHttp().getRequest<FastifyRequest>().params as Record<string, string>;
  return params[name] ?? '';
});

const textOf = ({ body }: FastifyRequest): string => (Buffer.isBuffer(body) ? bodyText(body) : '');
