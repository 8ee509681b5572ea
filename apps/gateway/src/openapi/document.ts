import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import {
  AckRequest,
  CordonRequest,
  ErrorCodes,
  FencingRequest,
  NodeCreateRequest,
  OperationRequest,
  ReasonRequest,
  RecoveryRequest,
  WorkloadRequest,
} from '#contracts';
import {
  AlarmListQuery,
  EventQuery,
  IncidentListQuery,
  JobListQuery,
  ListQuery,
  LogQuery,
  NodeListQuery,
} from '../v1/queries.js';
import { type Schema, schemaOf } from './schemas.js';

const bodies = [
  AckRequest,
  CordonRequest,
  FencingRequest,
  NodeCreateRequest,
  OperationRequest,
  ReasonRequest,
  RecoveryRequest,
  WorkloadRequest,
];
const queries: Record<string, new () => object> = {
  '/v1/nodes': NodeListQuery,
  '/v1/nodes/{name}/history': ListQuery,
  '/v1/jobs': JobListQuery,
  '/v1/jobs/{id}/log': LogQuery,
  '/v1/incidents': IncidentListQuery,
  '/v1/workloads': ListQuery,
  '/v1/alarms': AlarmListQuery,
  '/v1/events': EventQuery,
};

const problem: Schema = {
  type: 'object',
  description: 'RFC 9457; facts of the error stand beside these members',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { enum: Object.keys(ErrorCodes) },
    detail: { type: 'string' },
  },
};

/** Body of a POST on the clusterm surface. */
const clustermBody: Schema = {
  type: 'object',
  properties: {
    nodes: { type: 'array', items: { type: 'string' } },
    host_group: { type: 'string' },
    extra_vars: { type: ['object', 'string'], description: 'an object, or a text that holds one' },
    force: { type: 'boolean' },
    monitor_event: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        nodes: {
          type: 'array',
          items: {
            type: 'object',
            properties: { label: { type: 'string' }, serial: { type: 'string' }, addr: { type: 'string' } },
          },
        },
      },
    },
  },
};

const json = (name: string): Schema => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}

interface Operation {
  parameters?: Parameter[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
}

/** The API's reference: `/docs` to read, `/openapi.json` for programs. Made once, after all routes are known. */
export class ApiDocument {
  value: OpenAPIObject | undefined;
}

export function describeApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Muster')
    .setDescription('Muster’s own API is below `/v1`; the other paths are those of the contiv cluster manager.')
    .setVersion('1')
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth()
    .addSecurityRequirements('bearer')
    .build();
  return completed(SwaggerModule.createDocument(app, config));
}

/** What Nest cannot know by itself: bodies and queries from the rules that check them, and the shape of errors. */
function completed(document: OpenAPIObject): OpenAPIObject {
  const schemas: Record<string, Schema> = { Problem: problem, ClustermBody: clustermBody };
  for (const body of bodies) schemas[body.name] = schemaOf(body);
  document.components = { ...document.components, schemas: schemas as never };
  for (const [path, item] of Object.entries(document.paths)) {
    const query = queries[path];
    for (const method of ['get', 'put', 'post', 'delete'] as const) {
      const operation = item[method] as Operation | undefined;
      if (operation === undefined) continue;
      if (query !== undefined && method === 'get')
        operation.parameters = [
          ...(operation.parameters ?? []).filter((p) => p.in !== 'query'),
          ...queryParameters(query),
        ];
      addPathParameters(operation, path);
      if (path.startsWith('/v1')) {
        const schema = { schema: { $ref: '#/components/schemas/Problem' } };
        operation.responses['default'] = { description: 'An error', content: { 'application/problem+json': schema } };
      } else if (method === 'post') operation.requestBody = { required: false, content: json('ClustermBody') };
    }
  }
  return document;
}

/** Names in the path of the clusterm surface are read by a decorator that Nest cannot look into. */
function addPathParameters(operation: Operation, path: string): void {
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    operation.parameters ??= [];
    if (operation.parameters.some((p) => p.in === 'path' && p.name === name)) continue;
    operation.parameters.push({ name, in: 'path', required: true, schema: { type: 'string' } });
  }
}

const queryParameters = (query: new () => object): Parameter[] =>
  Object.entries(schemaOf(query)['properties'] as Record<string, Schema>).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
    ...(schema['type'] === 'array' && { style: 'form', explode: false }),
  }));
