import { type ErrorCode } from '#contracts';
import type { Route } from './routes.js';

/** Rules of an operation on a set of nodes, in the order in which they are asked. */
const admission: ErrorCode[] = [
  'NODE_UNKNOWN',
  'NOT_DISCOVERED',
  'HOST_GROUP_INVALID',
  'ROLE_RULE',
  'NODE_RESERVED',
  'WORKLOADS_PRESENT',
  'NODE_BUSY',
  'TOO_MANY_JOBS',
  'ILLEGAL_TRANSITION',
  'DRIVER_UNAVAILABLE',
  'NO_WORKERS',
];
const drivers: ErrorCode[] = ['DRIVER_UNKNOWN', 'DRIVER_UNAVAILABLE', 'NO_WORKERS'];

/** What a route refuses by rules of its own, beside what all routes of its kind have in common. */
const own: Record<string, ErrorCode[]> = {
  'POST /v1/nodes': ['ALREADY_EXISTS', 'HOST_GROUP_INVALID', ...drivers],
  'GET /v1/nodes/{name}': ['NODE_UNKNOWN'],
  'PATCH /v1/nodes/{name}': [
    'NODE_UNKNOWN',
    'ALREADY_EXISTS',
    'NODE_RESERVED',
    'NODE_BUSY',
    'HOST_GROUP_INVALID',
    ...drivers,
  ],
  'DELETE /v1/nodes/{name}': ['NODE_UNKNOWN', 'NODE_BUSY', 'NODE_RESERVED', 'WORKLOADS_PRESENT'],
  'PUT /v1/nodes/{name}/cordon': ['NODE_UNKNOWN'],
  'PUT /v1/nodes/{name}/accepted-drift': ['NODE_UNKNOWN', 'REVISION_CONFLICT'],
  'DELETE /v1/nodes/{name}/accepted-drift': ['NODE_UNKNOWN'],
  'PUT /v1/nodes/{name}/life-sign-waiver': ['NODE_UNKNOWN'],
  'DELETE /v1/nodes/{name}/life-sign-waiver': ['NODE_UNKNOWN'],
  'DELETE /v1/nodes/{name}/cordon': ['NODE_UNKNOWN'],
  'POST /v1/nodes/{name}/fence': ['NODE_UNKNOWN', 'FENCING_REFUSED', 'DRIVER_UNAVAILABLE', 'NO_WORKERS'],
  'GET /v1/nodes/{name}/power': ['NODE_UNKNOWN', 'BMC_AUTH', 'BMC_TIMEOUT', 'DRIVER_UNAVAILABLE', 'NO_WORKERS'],
  'POST /v1/nodes/{name}/power': [
    'NODE_UNKNOWN',
    'NODE_BUSY',
    'NODE_RESERVED',
    'INCIDENT_STATE',
    'WORKLOADS_PRESENT',
    'NOT_DISCOVERED',
    'FENCING_REFUSED',
    'NO_WORKERS',
  ],
  'POST /v1/nodes/{name}/drill': [
    'NODE_UNKNOWN',
    'NODE_BUSY',
    'NODE_RESERVED',
    'INCIDENT_STATE',
    'WORKLOADS_PRESENT',
    'NOT_DISCOVERED',
    'FENCING_REFUSED',
    'NO_WORKERS',
  ],
  'GET /v1/plan': ['NODE_UNKNOWN', 'NOT_LEADER', 'CONDUCTOR_SLOW'],
  'POST /v1/nodes/{name}/replace': ['NODE_UNKNOWN', 'ALREADY_EXISTS', 'NODE_BUSY', 'NODE_RESERVED', ...drivers],
  'GET /v1/nodes/{name}/evidence': ['NODE_UNKNOWN', 'NOT_FOUND'],
  'POST /v1/nodes/{name}/identify': ['NODE_UNKNOWN', 'NO_WORKERS'],
  'POST /v1/nodes/{name}/power-devices/{device}/acknowledge': ['NODE_UNKNOWN'],
  'POST /v1/nodes/{name}/revoke': [
    'NODE_UNKNOWN',
    'NODE_RESERVED',
    'NODE_BUSY',
    'WORKLOADS_PRESENT',
    'ILLEGAL_TRANSITION',
  ],
  'POST /v1/nodes/import': ['IMPORT_INVALID', 'NODE_RESERVED', 'NODE_BUSY', ...drivers],
  'POST /v1/operations': admission,
  'GET /v1/jobs/{id}': ['JOB_UNKNOWN'],
  'GET /v1/jobs/{id}/log': ['JOB_UNKNOWN'],
  'POST /v1/jobs/{id}/cancel': ['JOB_UNKNOWN'],
  'GET /v1/incidents/{node}': ['INCIDENT_UNKNOWN'],
  'GET /v1/incidents/{node}/report': ['INCIDENT_UNKNOWN'],
  'POST /v1/incidents/{node}/release': ['INCIDENT_UNKNOWN', 'INCIDENT_STATE', 'STILL_ALIVE'],
  'POST /v1/incidents/{node}/confirm': ['INCIDENT_UNKNOWN', 'INCIDENT_STATE', 'STILL_ALIVE'],
  'POST /v1/incidents/{node}/cancel': ['INCIDENT_UNKNOWN', 'INCIDENT_STATE'],
  'POST /v1/storms/{id}/release': ['NOT_FOUND', 'BAD_REQUEST'],
  'POST /v1/storms/{id}/confirm': ['NOT_FOUND', 'BAD_REQUEST'],
  'PUT /v1/fencing': ['FENCING_REFUSED', 'SETTINGS_INVALID'],
  'GET /v1/workloads/{name}': ['WORKLOAD_UNKNOWN'],
  'PUT /v1/workloads/{name}': [
    'NODE_UNKNOWN',
    'NODE_RESERVED',
    'INCIDENT_STATE',
    'WORKLOAD_RUNNING',
    'DRIVER_UNAVAILABLE',
    'NO_WORKERS',
  ],
  'DELETE /v1/workloads/{name}': ['WORKLOAD_UNKNOWN', 'WORKLOAD_RUNNING'],
  'POST /v1/claims': ['NO_SERVICEABLE_NODE', 'HOST_GROUP_INVALID'],
  'GET /v1/claims/{id}': ['CLAIM_UNKNOWN'],
  'DELETE /v1/claims/{id}': ['CLAIM_UNKNOWN'],
  'PATCH /v1/settings': ['SETTINGS_INVALID'],
  'POST /v1/records/delete': ['RECORD_UNKNOWN', 'ILLEGAL_TRANSITION', 'REVISION_CONFLICT'],
  'POST /v1/tokens': ['ALREADY_EXISTS'],
  'DELETE /v1/agents/tokens/{id}': ['TOKEN_UNKNOWN'],
  'POST /v1/agents/enrol': ['TOO_MANY_TRIES', 'ALREADY_EXISTS', 'NO_WORKERS', 'CONFIG_INVALID'],
  'DELETE /v1/tokens/{id}': ['TOKEN_UNKNOWN', 'LAST_ADMIN'],
};

/** Every code that a route of `/v1` may answer; INTERNAL, a defect of ours, is not named. */
export function refusalsOf(route: Route): ErrorCode[] {
  const { name, method, path, needs } = route;
  const sends = ['POST', 'PUT', 'PATCH'].includes(method);
  return [
    ...new Set<ErrorCode>([
      ...(sends || route.query !== undefined || path.includes('{') ? (['BAD_REQUEST'] as const) : []),
      ...(needs === 'anyone' ? [] : (['UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_TRIES'] as const)),
      ...(path.includes('{') ? (['NOT_FOUND'] as const) : []),
      ...(sends ? (['TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
      ...(method === 'POST' ? (['IDEMPOTENCY_MISMATCH', 'IDEMPOTENCY_IN_PROGRESS'] as const) : []),
      ...(route.headers.includes('if-match') ? (['REVISION_CONFLICT'] as const) : []),
      ...(own[name] ?? []),
      'BUS_UNAVAILABLE',
      'NO_RESPONDER',
      'TIMEOUT',
    ]),
  ];
}
