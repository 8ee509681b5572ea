import { beforeAll, describe, expect, it } from 'vitest';
import type { OpenAPIObject } from '@nestjs/swagger';
import { checked } from '../body/checked.pipe.js';
import { answerSchemas } from './answer-schemas.js';
import { describeApi } from './document.js';
import { requestExamples } from './examples.js';
import { type Route, routesOf } from './routes.js';
import { applicationWithoutServer } from '../http/without-server.js';

interface Operation {
  security?: object[];
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, { content?: Record<string, { example?: unknown; schema: object }> }>;
}

/** `/v1` as it was agreed. */
const agreed = `
GET /v1/status, GET /v1/plan
GET /v1/nodes, POST /v1/nodes
GET /v1/nodes/{name}, PATCH /v1/nodes/{name}, DELETE /v1/nodes/{name}
GET /v1/nodes/{name}/evidence, GET /v1/nodes/{name}/history
PUT /v1/nodes/{name}/cordon, DELETE /v1/nodes/{name}/cordon
GET /v1/nodes/{name}/power, POST /v1/nodes/{name}/power, POST /v1/nodes/{name}/drill
POST /v1/nodes/{name}/fence, POST /v1/nodes/{name}/replace
POST /v1/nodes/import, GET /v1/nodes/export
POST /v1/operations
GET /v1/jobs, GET /v1/jobs/{id}, GET /v1/jobs/{id}/log, POST /v1/jobs/{id}/cancel
GET /v1/incidents, GET /v1/incidents/{node}, GET /v1/incidents/{node}/report, POST /v1/incidents/{node}/release, POST /v1/incidents/{node}/confirm, POST /v1/incidents/{node}/cancel
GET /v1/storms, GET /v1/storms/{id}, POST /v1/storms/{id}/release, POST /v1/storms/{id}/confirm
GET /v1/fencing, PUT /v1/fencing
GET /v1/workloads, GET /v1/workloads/{name}, PUT /v1/workloads/{name}, DELETE /v1/workloads/{name}
GET /v1/claims, POST /v1/claims, GET /v1/claims/{id}, DELETE /v1/claims/{id}
GET /v1/workers, GET /v1/drivers
GET /v1/alarms, POST /v1/alarms/{id}/ack
GET /v1/events
GET /v1/settings, PATCH /v1/settings
GET /v1/tokens, POST /v1/tokens, DELETE /v1/tokens/{id}
GET /healthz, GET /readyz, GET /metrics
`
  .trim()
  .split(/[,\n]\s*/);

describe('the reference of the HTTP API', () => {
  let document: OpenAPIObject;
  let routes: Route[];

  const operation = (route: Route): Operation =>
    document.paths[route.path]?.[route.method.toLowerCase() as 'get'] as unknown as Operation;

  beforeAll(async () => {
    const app = await applicationWithoutServer();
    document = describeApi(app);
    routes = routesOf(app).filter((route) => operation(route) !== undefined);
  });

  it('names every route that was agreed', () => {
    expect(agreed.filter((name) => !routes.some((route) => route.name === name))).toEqual([]);
  });

  it('shows every body by an example that passes the rules which check it', () => {
    const bare: string[] = [];
    for (const route of routes) {
      const content = operation(route).requestBody?.content;
      if (content === undefined) continue;
      const examples = Object.values(content).map((c) => c.example);
      if (examples.some((example) => example === undefined)) bare.push(route.name);
      else if (route.body !== undefined) for (const example of examples) checked(route.body, example);
    }
    expect(bare).toEqual([]);
    expect(Object.keys(requestExamples).filter((name) => !routes.some((route) => route.name === name))).toEqual([]);
  });

  it('shows every answer by its schema and an example, but for texts and empty ones', () => {
    const bare: string[] = [];
    for (const route of routes) {
      const [, answer] = Object.entries(operation(route).responses).find(([status]) => status.startsWith('2')) ?? [];
      const json = answer?.content?.['application/json'];
      const answers = answer?.content !== undefined;
      if (json !== undefined && json.example === undefined) bare.push(route.name);
      if (json === undefined && answers && Object.keys(answer.content ?? {}).some((type) => /json/.test(type)))
        bare.push(route.name);
      if (!answers && route.method === 'GET') bare.push(route.name);
    }
    expect(bare).toEqual([]);
    expect(Object.keys(answerSchemas).filter((name) => !routes.some((route) => route.name === name))).toEqual([]);
  });

  it('says of every route of /v1 what it refuses', () => {
    for (const route of routes.filter((r) => r.path.startsWith('/v1'))) {
      const statuses = Object.keys(operation(route).responses);
      expect(statuses).toEqual(expect.arrayContaining(['401', '403', '503', 'default']));
      if (route.body !== undefined) expect(statuses).toEqual(expect.arrayContaining(['400', '413', '415']));
    }
  });

  it('says of every route what its client may show', () => {
    const shown = (route: Route): unknown => operation(route).security;
    for (const route of routes) {
      if (route.needs === 'anyone') expect([route.name, shown(route)]).toEqual([route.name, []]);
      else if (route.clusterm)
        expect([route.name, shown(route)]).toEqual([route.name, [{ bearer: [] }, { basic: [] }]]);
      else expect([route.name, shown(route)]).toEqual([route.name, undefined]);
    }
    expect(document.components?.securitySchemes).toMatchObject({ basic: { type: 'http', scheme: 'basic' } });
  });

  it('takes bodies and queries from the rules that check them', () => {
    expect(document.components?.schemas?.['OperationRequest']).toMatchObject({
      required: ['kind'],
      properties: { nodes: { type: 'array', items: { type: 'string' }, maxItems: 5000 }, force: { type: 'boolean' } },
    });
    expect(document.components?.schemas?.['WorkloadRequest']).toMatchObject({
      properties: { recovery: { $ref: '#/components/schemas/RecoveryRequest' } },
    });
    const list = routes.find((route) => route.name === 'GET /v1/nodes') as Route;
    expect(operation(list).parameters?.map((p) => p.name)).toEqual(expect.arrayContaining(['hostGroup', 'limit']));
    const events = routes.find((route) => route.name === 'GET /v1/events') as Route;
    expect(Object.keys(operation(events).responses['200']?.content ?? {})).toContain('text/event-stream');
  });
});
