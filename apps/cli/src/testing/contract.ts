import 'reflect-metadata';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validateSync } from 'class-validator';
import {
  AcceptDriftRequest,
  AckRequest,
  AgentKeyRotateRequest,
  AgentTokenRequest,
  ClaimRequest,
  CordonRequest,
  FencingRequest,
  NodeCreateRequest,
  NodeImportRequest,
  NodePatchRequest,
  NodeReplaceRequest,
  OperationRequest,
  PowerActionRequest,
  DrillRequest,
  ReasonRequest,
  ReleaseRequest,
  RevokeRequest,
  WaiveLifeSignRequest,
  StormRequest,
  TokenRequest,
  WorkloadRequest,
} from '#contracts/rpc/requests.js';
import { SettingsPatchRequest } from '#contracts/settings/settings-request.js';

const bodies: [route: RegExp, body: ClassConstructor<object>][] = [
  [/^POST \/v1\/operations$/, OperationRequest],
  [/^POST \/v1\/nodes$/, NodeCreateRequest],
  [/^POST \/v1\/nodes\/import$/, NodeImportRequest],
  [/^PATCH \/v1\/nodes\/[^/]+$/, NodePatchRequest],
  [/^POST \/v1\/nodes\/[^/]+\/replace$/, NodeReplaceRequest],
  [/^POST \/v1\/nodes\/[^/]+\/power$/, PowerActionRequest],
  [/^POST \/v1\/nodes\/[^/]+\/fence$/, ReasonRequest],
  [/^POST \/v1\/nodes\/[^/]+\/drill$/, DrillRequest],
  [/^PUT \/v1\/nodes\/[^/]+\/cordon$/, CordonRequest],
  [/^POST \/v1\/incidents\/[^/]+\/release$/, ReleaseRequest],
  [/^POST \/v1\/incidents\/[^/]+\/confirm$/, ReasonRequest],
  [/^POST \/v1\/storms\/[^/]+\/(release|confirm)$/, StormRequest],
  [/^POST \/v1\/claims$/, ClaimRequest],
  [/^POST \/v1\/tokens$/, TokenRequest],
  [/^POST \/v1\/agents\/tokens$/, AgentTokenRequest],
  [/^POST \/v1\/agents\/key\/rotate$/, AgentKeyRotateRequest],
  [/^POST \/v1\/nodes\/[^/]+\/revoke$/, RevokeRequest],
  [/^PUT \/v1\/nodes\/[^/]+\/accepted-drift$/, AcceptDriftRequest],
  [/^PUT \/v1\/nodes\/[^/]+\/life-sign-waiver$/, WaiveLifeSignRequest],
  [/^POST \/v1\/alarms\/[^/]+\/ack$/, AckRequest],
  [/^PUT \/v1\/workloads\/[^/]+$/, WorkloadRequest],
  [/^PUT \/v1\/fencing$/, FencingRequest],
  [/^PATCH \/v1\/settings$/, SettingsPatchRequest],
];

/** What the gateway would refuse of a body before anybody looks at what it asks for. */
export function refusedOf(route: string, body: unknown): string[] {
  const known = bodies.find(([pattern]) => pattern.test(route));
  if (known === undefined) return [];
  const request = plainToInstance(known[1], body);
  return validateSync(request, { whitelist: true, forbidNonWhitelisted: true }).map((e) => e.toString());
}
