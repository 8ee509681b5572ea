import type { INestApplication, Type } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ErrorCodes, type ErrorCode } from '#contracts';
import * as requests from '#contracts/rpc/requests.js';
import { RecoverySpecRequest } from '#contracts/workload/recovery-spec-request.js';
import { answerSchemas, namedSchemas } from './answer-schemas.js';
import { clustermBody, clustermConfig, problemSchema, tags } from './fixed-parts.js';
import { answerExamples, requestExamples } from './examples.js';
import { refusalsOf } from './refusals.js';
import { type Route, routesOf } from './routes.js';
import { type Schema, schemaOf } from './schemas.js';

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: Schema;
  style?: string;
  explode?: boolean;
}
interface Operation {
  operationId: string;
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, object> };
  responses: Record<string, { description: string; headers?: object; content?: Record<string, object> }>;
}

/** The API's reference: `/docs` to read, `/openapi.json` for programs. Made once, after all routes are known. */
export class ApiDocument {
  value: OpenAPIObject | undefined;
}

/** What Nest cannot know by itself comes from the rules that check requests and from the types of the answers. */
export function describeApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Muster')
    .setDescription(
      'Muster’s own API is below `/v1`; the other paths are those of the contiv cluster manager. Its errors are ' +
        '`application/problem+json` with a stable `code`; those of the other paths are one line of text.',
    )
    .setVersion('1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .setOpenAPIVersion('3.1.0')
    .addServer('/')
    .addBearerAuth()
    .addBasicAuth({
      type: 'http',
      scheme: 'basic',
      description: 'On the other paths alone: any name, and the token as password',
    })
    .addSecurityRequirements('bearer')
    .build();
  const document = SwaggerModule.createDocument(app, config);
  document.tags = tags;
  const schemas: Record<string, Schema> = {
    Problem: problemSchema,
    ClustermBody: clustermBody,
    ClustermConfigBody: clustermConfig,
    ...namedSchemas,
  };
  for (const route of routesOf(app)) {
    const operation = operationOf(document, route);
    if (operation === undefined) continue;
    operation.operationId = operation.operationId.replace(/\[\d+\]$/, `_${route.path.split('/')[1]}`);
    if (route.needs === 'anyone') operation.security = [];
    else if (route.clusterm) operation.security = [{ bearer: [] }, { basic: [] }];
    describeParameters(operation, route);
    describeBody(operation, route, schemas);
    describeAnswer(operation, route);
    describeRefusals(operation, route);
  }
  document.components = { ...document.components, schemas: used(document.paths, schemas) as never };
  return document;
}

const operationOf = (document: OpenAPIObject, route: Route): Operation | undefined =>
  document.paths[route.path]?.[route.method.toLowerCase() as 'get'] as Operation | undefined;

const isOwn = (route: Route): boolean => route.path.startsWith('/v1/');
const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

function describeParameters(operation: Operation, route: Route): void {
  const given = (operation.parameters ?? []).filter(
    (p) => p.in !== 'header' && (p.in !== 'query' || route.query === undefined),
  );
  // Names in the path of the clusterm surface are read by a decorator that Nest cannot look into.
  for (const [, name = ''] of route.path.matchAll(/\{(\w+)\}/g))
    if (!given.some((p) => p.name === name))
      given.push({ name, in: 'path', required: true, schema: { type: 'string' } });
  operation.parameters = [...given, ...queryParameters(route.query), ...headerParameters(route)];
}

const queryParameters = (query: Type<object> | undefined): Parameter[] =>
  query === undefined
    ? []
    : Object.entries(schemaOf(query)['properties'] as Record<string, Schema>).map(([name, schema]) => ({
        name,
        in: 'query',
        required: false,
        schema,
        ...(schema['type'] === 'array' && { style: 'form', explode: false }),
      }));

function headerParameters(route: Route): Parameter[] {
  const header = (name: string, description: string, schema: Schema): Parameter => ({
    name,
    in: 'header',
    required: false,
    description,
    schema,
  });
  return [
    ...(isOwn(route) && route.method === 'POST' && route.needs !== 'agent-token'
      ? [
          header(
            'Idempotency-Key',
            'The same request with the same key is carried out once: again, within a day, it gets the first answer, ' +
              'marked `idempotent-replayed: true`, without what is shown only once.',
            { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-+\\--~]+$' },
          ),
        ]
      : []),
    ...(route.headers.includes('if-match')
      ? [header('If-Match', 'The edit rests on this revision: `"<revision>"`', { type: 'string' })]
      : []),
    ...(route.headers.includes('last-event-id')
      ? [header('Last-Event-ID', 'Resume behind this event', { type: 'string', pattern: '^\\d{1,15}$' })]
      : []),
  ];
}

function describeBody(operation: Operation, route: Route, schemas: Record<string, Schema>): void {
  const example = requestExamples[route.name];
  if (route.body !== undefined) addClass(route.body, schemas);
  const given = operation.requestBody?.content;
  const name =
    route.body?.name ??
    (isOwn(route) || route.method !== 'POST'
      ? undefined
      : route.path === '/config'
        ? 'ClustermConfigBody'
        : 'ClustermBody');
  if (name === undefined && given === undefined) return;
  const body = {
    schema: name === undefined ? { type: 'object' } : refTo(name),
    ...(example !== undefined && { example }),
  };
  const types = given === undefined ? ['application/json'] : Object.keys(given);
  const required = name !== undefined && ((schemas[name]?.['required'] as string[] | undefined) ?? []).length > 0;
  operation.requestBody = { required, content: Object.fromEntries(types.map((type) => [type, body])) };
}

/** What a request may hold, by name. */
const held = { ...requests, RecoverySpecRequest } as unknown as Record<string, Type<object>>;

/** The class, and those that it holds. */
function addClass(target: Type<object>, schemas: Record<string, Schema>): void {
  if (schemas[target.name] !== undefined) return;
  const schema = (schemas[target.name] = schemaOf(target));
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g))
    addClass(held[name] as Type<object>, schemas);
}

function describeAnswer(operation: Operation, route: Route): void {
  const [status = '200'] = Object.keys(operation.responses).filter((code) => code.startsWith('2'));
  const answer = (operation.responses[status] ??= { description: '' });
  answer.description ||= status === '204' ? 'Done' : status === '202' ? 'Accepted' : 'OK';
  if (status === '204' || (route.method === 'POST' && !isOwn(route))) return;
  const schema = answerSchemas[route.name];
  const example = (answerExamples as Record<string, unknown>)[route.name];
  const types = route.produces.length > 0 ? route.produces : [schema === undefined ? 'text/plain' : 'application/json'];
  answer.content = Object.fromEntries(
    types.map((type) => [
      type,
      type === 'application/json' && schema !== undefined ? { schema, example } : { schema: { type: 'string' } },
    ]),
  );
}

function describeRefusals(operation: Operation, route: Route): void {
  if (!isOwn(route)) {
    if (route.needs === 'anyone') return;
    const text = { 'text/plain': { schema: { type: 'string' } } };
    operation.responses['401'] = { description: 'No token, or a wrong one', content: text };
    operation.responses['403'] = { description: 'The token’s role may not', content: text };
    operation.responses['404'] = {
      description: 'No such route, or a body that does not say that it is JSON',
      content: text,
    };
    operation.responses['500'] = { description: 'Refused: one line that says why', content: text };
    return;
  }
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of refusalsOf(route)) {
    const { status } = ErrorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of byStatus)
    operation.responses[status] = {
      description: codes.map((code) => `\`${code}\``).join(', '),
      ...(codes.some((code) => ErrorCodes[code].retry && (status === 503 || status === 429)) && {
        headers: retryAfter,
      }),
      content: {
        'application/problem+json': {
          schema: refTo('Problem'),
          example: problemExample(codes[0] as ErrorCode, status),
        },
      },
    };
  operation.responses['default'] = {
    description: 'Any other error',
    content: { 'application/problem+json': { schema: refTo('Problem') } },
  };
}

const retryAfter = { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } };

const problemExample = (code: ErrorCode, status: number): object => ({
  type: `urn:muster:error:${code}`,
  title: code.toLowerCase().replaceAll('_', ' '),
  status,
  code,
  detail: 'what is wrong, and what to do',
});

/** Those that something refers to, over any number of steps. */
function used(paths: object, schemas: Record<string, Schema>): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  const follow = (value: object): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const schema = schemas[name];
      if (found[name] !== undefined || schema === undefined) continue;
      found[name] = schema;
      follow(schema);
    }
  };
  follow(paths);
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}
