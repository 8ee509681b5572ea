import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { GateCodes, type GateCode } from '../incident/incident.js';
import type { StormLimits } from '../settings/settings.js';
import { NAME_PATTERN, NODE_NAME_PATTERN } from '../names/names.js';
import { PowerDrivers } from '../node/node.js';
import { RecoverySpecRequest } from '../workload/recovery-spec-request.js';
import { RecoveryDrivers, type RecoveryDriver } from '../workload/recovery-spec.js';
import { JobKinds, type JobKind } from '../job/job.js';
import { Buckets, type BucketName } from '../names/subjects.js';

/** The last moment that a date can name. */
export const LAST_DATE_MS = 8_640_000_000_000_000;

/** Shown in lines, and in lines of lists: a line end in it would make a line that nobody has said. */
const OneLine = (): PropertyDecorator => Matches(/^[^\r\n]*$/, { message: '$property must be one line' });

/** Bodies that people and tools send: refused whole at the edge where anything is off. */

export class OperationRequest {
  @IsIn(JobKinds.filter((k) => k !== 'recover'))
  kind!: Exclude<JobKind, 'recover'>;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(5000)
  @Matches(NODE_NAME_PATTERN, { each: true })
  nodes?: string[];

  /** discover only. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(5000)
  @IsString({ each: true })
  addresses?: string[];

  /** discover only: leave out addresses of nodes that are known already, unless all are. @default false: refused whole */
  @IsOptional()
  @IsBoolean()
  skipKnown?: boolean;

  @IsOptional()
  @Matches(NAME_PATTERN)
  hostGroup?: string;

  @IsOptional()
  @IsObject()
  extraVars?: Record<string, unknown>;

  /** Move workloads away first. */
  @IsOptional()
  @IsBoolean()
  force?: boolean;

  /**
   * maintenance, resetup: also where several masters go down at once, or the last that serves.
   * @default false: refused with ROLE_RULE
   */
  @IsOptional()
  @IsBoolean()
  atOnce?: boolean;

  /** service-test only: the service of one's own that is tested. */
  @IsOptional()
  @Matches(NAME_PATTERN)
  service?: string;

  /** check only: its results say what differs, line by line, with secrets masked. @default false */
  @IsOptional()
  @IsBoolean()
  diff?: boolean;

  /** Longest run time, s. @default none but the limits of the steps */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(86_400)
  timeout?: number;
}

export class PowerDeviceRequest {
  @Matches(NAME_PATTERN)
  id!: string;

  @IsIn(PowerDrivers)
  driver!: string;

  @Matches(/^[A-Za-z0-9.:_-]{1,255}$/)
  address!: string;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(65535)
  port?: number;

  @IsOptional()
  @Length(1, 64)
  username?: string;

  /** Write-only: kept sealed in bucket `secrets`. IPMI takes at most 20 bytes. */
  @IsOptional()
  @Length(1, 20)
  password?: string;

  @IsOptional()
  @IsObject()
  options?: Record<string, string>;

  /** One outlet feeds several nodes, each of which says so: an off reaches them all. */
  @IsOptional()
  @IsBoolean()
  shared?: boolean;
}

export class NodeCreateRequest {
  @Matches(NAME_PATTERN)
  label!: string;

  @Matches(NAME_PATTERN)
  serial!: string;

  @IsOptional()
  @Matches(NAME_PATTERN)
  hostGroup?: string;

  @IsOptional()
  @Matches(NAME_PATTERN)
  failureDomain?: string;

  /** Network name → `{address}`; one to four. */
  @IsObject()
  networks!: Record<string, { address: string }>;

  /** Levels in order, each a list of devices. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(4)
  powerLevels?: PowerDeviceRequest[][];

  @IsOptional()
  @Matches(NAME_PATTERN)
  provisionDriver?: string;

  @IsOptional()
  @IsObject()
  vars?: Record<string, unknown>;

  @IsOptional()
  @IsIn(['auto', 'manual'])
  fencing?: 'auto' | 'manual';

  /** Runs a Muster agent. @default true */
  @IsOptional()
  @IsBoolean()
  enrolled?: boolean;
}

/**
 * Edits a node as a JSON merge patch (RFC 7396): what is absent stays, `null` removes, `vars` and `networks` merge.
 * `powerLevels` replaces all levels; a device without a password keeps the one that is stored under its id, as
 * long as driver, address and port stay: elsewhere it must be given anew.
 */
export class NodePatchRequest {
  @IsOptional()
  @Matches(NAME_PATTERN)
  hostGroup?: string | null;

  @IsOptional()
  @Matches(NAME_PATTERN)
  failureDomain?: string;

  @IsOptional()
  @IsObject()
  networks?: Record<string, { address: string } | null>;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(4)
  powerLevels?: PowerDeviceRequest[][];

  @IsOptional()
  @Matches(NAME_PATTERN)
  provisionDriver?: string;

  @IsOptional()
  @IsObject()
  vars?: Record<string, unknown>;

  @IsOptional()
  @IsIn(['auto', 'manual'])
  fencing?: 'auto' | 'manual';

  /** Only `null`: forget the pinned keys, the next contact pins anew. */
  @IsOptional()
  sshHostKeys?: null;
}

/** New hardware in the place of a node: same host group, failure domain, vars and addresses unless given. */
export class NodeReplaceRequest {
  @Matches(NAME_PATTERN)
  serial!: string;

  /** @default the old node's */
  @IsOptional()
  @Matches(NAME_PATTERN)
  label?: string;

  /** @default the old node's */
  @IsOptional()
  @IsObject()
  networks?: Record<string, { address: string }>;

  /** @default the old node's, with their passwords */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(4)
  powerLevels?: PowerDeviceRequest[][];
}

/** All nodes of a file, or, where anything about one is wrong, none. A name that exists is edited. */
export class NodeImportRequest {
  @IsIn(['yaml', 'csv'])
  format!: 'yaml' | 'csv';

  @IsString()
  @Length(1, 1_000_000)
  content!: string;

  /** Says what would happen. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

export class ClaimRequest {
  @IsInt()
  @Min(1)
  @Max(1000)
  count!: number;

  @IsOptional()
  @Matches(NAME_PATTERN)
  hostGroup?: string;

  /** `vars.rack=r1,failureDomain!=a`: all must hold. */
  @IsOptional()
  @IsString()
  @Length(1, 500)
  selector?: string;

  @Matches(NAME_PATTERN)
  owner!: string;

  /** s; then the nodes are free again. @default until it is deleted */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(31_536_000)
  ttl?: number;
}

export class PowerActionRequest {
  @IsIn(['on', 'off', 'soft', 'cycle'])
  action!: 'on' | 'off' | 'soft' | 'cycle';

  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;
}

export class TokenRequest {
  @Matches(NAME_PATTERN)
  name!: string;

  @IsIn(['viewer', 'operator', 'admin'])
  role!: 'viewer' | 'operator' | 'admin';

  /** s. @default never ends */
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(315_360_000)
  ttl?: number;
}

export class AgentTokenRequest {
  /** s. @default 3600 */
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(2_592_000)
  ttl?: number;

  /** Nodes that may be enrolled with it. @default 1 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(10_000)
  uses?: number;
}

/** An exchange of the key by which agents prove their datagrams. */
export class AgentKeyRotateRequest {
  /** Why; kept in the audit. */
  @IsOptional()
  @IsString()
  @MaxLength(512)
  @OneLine()
  reason?: string;

  /** Goes on with an exchange that waits for nodes that nobody hears: they get the keys when they are back. */
  @IsOptional()
  @IsBoolean()
  dropAbsent?: boolean;
}

/** What a machine says of itself when it is to be let in. */
/** What a machine says of its hardware. */
export class HardwareRequest {
  @IsOptional()
  @Length(1, 128)
  systemUuid?: string;

  @IsOptional()
  @Length(1, 128)
  bmcGuid?: string;

  @IsOptional()
  @Length(1, 128)
  boardSerial?: string;

  @IsOptional()
  @Length(1, 128)
  chassisSerial?: string;
}

export class AgentEnrolRequest {
  @Matches(NAME_PATTERN)
  label!: string;

  @Matches(NAME_PATTERN)
  serial!: string;

  /** One to four, with `management` among them. */
  @IsObject()
  networks!: Record<string, { address: string }>;

  /** Public keys of its sshd, as in known_hosts without the name. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(16)
  @IsString({ each: true })
  @MaxLength(4_096, { each: true })
  hostKeys?: string[];

  /** Of its machine id: see `machineOf`. */
  @IsOptional()
  @Matches(/^[0-9a-f]{32}$/)
  machine?: string;

  /** Serial number of its mainboard, as in a name: see `boardSerial`. Absent where its maker has filled in none. */
  @IsOptional()
  @Matches(NAME_PATTERN)
  productSerial?: string;

  /** By DMI, and by its own BMC in band. */
  @IsOptional()
  @ValidateNested()
  @Type(() => HardwareRequest)
  hardware?: HardwareRequest;
}

export class RevokeRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  /** Also while a job or a claim holds the node, its incident is open, or workloads are assigned to it. */
  @IsOptional()
  @IsBoolean()
  force?: boolean;
}

export class WaiveLifeSignRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;
}

export class AcceptDriftRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  @Matches(/\S/, { message: '$property must say why' })
  reason!: string;

  /** Wall clock, ms. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(LAST_DATE_MS)
  until?: number;

  /** Job of the check whose findings are meant: refused where another check has come since. */
  @IsOptional()
  @IsString()
  @Length(1, 100)
  check?: string;
}

export class CordonRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  /** Wall clock, ms. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(LAST_DATE_MS)
  until?: number;

  /** Have its workloads moved away, one by one: each is stopped, and started elsewhere once that was read back. */
  @IsOptional()
  @IsBoolean()
  drain?: boolean;
}

export class RecordDeleteRequest {
  @IsIn([...Buckets])
  bucket!: BucketName;

  @IsString()
  @Length(1, 500)
  key!: string;

  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  /** Also the incident of a node that is silent. */
  @IsOptional()
  @IsBoolean()
  force?: boolean;
}

export class ReasonRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  @IsOptional()
  @IsBoolean()
  force?: boolean;

  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}

export class ReleaseRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  @IsOptional()
  @IsBoolean()
  force?: boolean;

  /** That the person saw: where another one stops it by then it is refused. */
  @IsOptional()
  @IsIn(GateCodes)
  gate?: GateCode;
}

export class DrillRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  /** The fencing level that is drilled, from 1. @default 1 */
  @IsOptional()
  @IsInt()
  @Min(1)
  level?: number;
}

/** Release or confirmation of a storm. */
export class StormRequest {
  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  /** Members. @default all that are not back */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(10_000)
  @IsString({ each: true })
  nodes?: string[];

  /** Confirmation of a node that still shows signs of life. */
  @IsOptional()
  @IsBoolean()
  force?: boolean;
}

export class RecoveryRequest {
  @IsIn(RecoveryDrivers)
  driver!: RecoveryDriver;

  @ValidateNested()
  @Type(() => RecoverySpecRequest)
  spec!: RecoverySpecRequest;
}

export class WorkloadRequest {
  @IsOptional()
  @IsIn(['running', 'stopped'])
  desired?: 'running' | 'stopped';

  @IsOptional()
  @IsInt()
  priority?: number;

  @IsOptional()
  @Matches(NAME_PATTERN)
  hostGroup?: string;

  @IsOptional()
  @IsInt()
  @Min(0)
  weight?: number;

  @IsOptional()
  @ValidateNested()
  @Type(() => RecoveryRequest)
  recovery?: RecoveryRequest;

  /** Where it already runs: the first assignment; later ones are Muster's. */
  @IsOptional()
  @Matches(NODE_NAME_PATTERN)
  node?: string;
}

export class MonitorNode {
  @Matches(NAME_PATTERN)
  label!: string;

  @Matches(NAME_PATTERN)
  serial!: string;

  @Matches(/^[A-Za-z0-9.:_-]{1,255}$/)
  addr!: string;
}

/** `muster.monitor.*` and the clusterm surface's `/monitor/event`. */
export class MonitorEventRequest {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(10_000)
  @ValidateNested({ each: true })
  @Type(() => MonitorNode)
  nodes!: MonitorNode[];
}

export class FencingRequest {
  @IsIn(['observe', 'enforce'])
  mode!: 'observe' | 'enforce';

  @IsOptional()
  @IsObject()
  paused?: { until: number; reason: string };

  /** Only what is to be changed. */
  @IsOptional()
  @IsObject()
  storm?: Partial<StormLimits>;

  /** Nodes that may be without a tested power device. */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  except?: string[];
}

export class AckRequest {
  /** For whoever looks at it next; kept with the alarm until that is cleared. */
  @IsOptional()
  @MaxLength(500)
  @OneLine()
  note?: string;
}

/** Of muster.cmd.events. */
export class EventsCommand {
  /** Sequence behind which it begins; 0: the oldest that is kept. @default 0 */
  @IsOptional()
  @IsInt()
  @Min(0)
  after?: number;

  /** `verdict` among them. @default all */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(50)
  @Matches(/^[a-z][a-z-]{0,60}$/, { each: true })
  kinds?: string[];

  /** @default 100 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1000)
  limit?: number;
}

/** Of muster.cmd.fence. */
export class FenceCommand {
  @Matches(NODE_NAME_PATTERN)
  node!: string;

  @IsString()
  @Length(1, 500)
  @OneLine()
  reason!: string;

  /** Asks every gate, and does nothing. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;
}
