import { IsArray, IsInt, IsObject, IsOptional, IsString } from 'class-validator';

/**
 * A merge patch (RFC 7396) of the cluster's settings: what is absent stays, `null` brings the default back, lists are
 * replaced. The whole set is then validated as one.
 */
export class SettingsPatchRequest {
  /** UDP port of the agents; not while there are any. */
  @IsOptional()
  @IsInt()
  agentPort?: number | null;

  /** Another `profile` brings its numbers; those that are given besides go on top. ms. */
  @IsOptional()
  @IsObject()
  detection?: Record<string, unknown> | null;

  /** `hung`, `afterRecovery`, `storm`; mode and pause are set by `PUT /v1/fencing`. */
  @IsOptional()
  @IsObject()
  fencing?: Record<string, unknown> | null;

  /** All of them: `{name, role, onReturn?, lifeSign?, lifeSignReason?}`. None may go while nodes are in it. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  hostGroups?: Record<string, unknown>[] | null;

  /** Extra vars for every run. */
  @IsOptional()
  @IsObject()
  globals?: Record<string, unknown> | null;

  /** ms. */
  @IsOptional()
  @IsInt()
  leaveGrace?: number | null;

  /** ms. */
  @IsOptional()
  @IsInt()
  holdDown?: number | null;

  /** What follows when a node stays DEGRADED: `policy` (`alarm`, `drain`, `down`), `after` in ms. */
  @IsOptional()
  @IsObject()
  degraded?: Record<string, unknown> | null;

  /** Checks of nodes in service: `every` in ms, 0 for never. */
  @IsOptional()
  @IsObject()
  check?: Record<string, unknown> | null;

  /** `host:port`. */
  @IsOptional()
  @IsString()
  witness?: string | null;

  /** Ansible configuration on top of `muster.yaml`: `playbooks`, `user`, `privateKey`, `extraVars`, `sitePlaybook`, … */
  @IsOptional()
  @IsObject()
  ansible?: Record<string, unknown> | null;

  /** All of them: `{name, url, secret?, severity?}`. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  webhooks?: Record<string, unknown>[] | null;

  /** `{force}`. */
  @IsOptional()
  @IsObject()
  compat?: Record<string, unknown> | null;

  /** The name as it is: for those who send back what they have read. */
  @IsOptional()
  @IsString()
  cluster?: string;
}
