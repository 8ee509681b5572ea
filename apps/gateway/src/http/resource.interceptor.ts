import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';

type Item = Record<string, unknown>;

/** What all resources share: `?fields=a,b` keeps those members only, and a record's revision is its ETag. */
@Injectable()
export class ResourceInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { fields } = http.getRequest<FastifyRequest>().query as { fields?: unknown };
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      map((answer: unknown) => {
        if (typeof answer !== 'object' || answer === null) return answer;
        const { revision, items } = answer as Item;
        if (typeof revision === 'number') void reply.header('etag', `"${revision}"`);
        if (typeof fields !== 'string' || fields === '') return answer;
        const names = fields.split(',');
        return Array.isArray(items)
          ? { ...answer, items: (items as Item[]).map((item) => pick(item, names)) }
          : pick(answer as Item, names);
      }),
    );
  }
}

const pick = (item: Item, names: string[]): Item =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]));
