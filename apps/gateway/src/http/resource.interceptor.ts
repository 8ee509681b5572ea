import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { MusterError } from '#contracts';
import { JsonText } from '../rpc/json-text.js';
import { membersOf } from '../openapi/members.js';

type Item = Record<string, unknown>;

/**
 * What all resources share: `?fields=a,b` keeps those members only, and a record's revision is its ETag. BAD_REQUEST
 * for a member that a route of /v1 never answers.
 */
@Injectable()
export class ResourceInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { fields } = request.query as { fields?: unknown };
    const names = typeof fields === 'string' && fields !== '' ? fields.split(',') : undefined;
    if (names) refuseUnknown(names, `${request.method} ${request.routeOptions.url}`);
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      map((answer: unknown) => {
        if (typeof answer !== 'object' || answer === null) return answer;
        const { revision, items } = answer as Item;
        if (typeof revision === 'number') void reply.header('etag', `"${revision}"`);
        if (answer instanceof JsonText) {
          if (names) return pick(answer.parsed(), names);
          void reply.type('application/json');
          return answer.text;
        }
        if (!names) return answer;
        return Array.isArray(items)
          ? { ...answer, items: (items as Item[]).map((item) => pick(item, names)) }
          : pick(answer as Item, names);
      }),
    );
  }
}

/** @param route as the server knows it: `GET /v1/nodes/:name` */
function refuseUnknown(names: string[], route: string): void {
  if (!route.includes(' /v1/')) return;
  const members = membersOf(route.replace(/:(\w+)/g, '{$1}'));
  const unknown = members && names.find((name) => !members.includes(name));
  if (unknown === undefined) return;
  throw new MusterError('BAD_REQUEST', `fields: there is no member "${unknown}", but ${members?.join(', ')}`, {
    field: unknown,
  });
}

const pick = (item: Item, names: string[]): Item =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]));
