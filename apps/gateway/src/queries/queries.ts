import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { JobKinds, JobStatuses, NAME_PATTERN, NODE_NAME_PATTERN, NodeStatuses } from '#contracts';

/** `?flag=true` and `?flag=false`; anything else is left for the validator to refuse. */
const Flag = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value));

/** How much at once. */
class LimitQuery {
  /** Items of one answer; of events the newest so many. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1000)
  limit?: number;
}

/** Every list. */
export class ListQuery extends LimitQuery {
  /** `next` of the answer before. */
  @IsOptional()
  @IsString()
  @Length(1, 300)
  cursor?: string;

  /** Members of the items to answer, separated by commas; one that they never have is refused. */
  @IsOptional()
  @MaxLength(500)
  fields?: string;
}

export class HistoryQuery extends LimitQuery {
  /** `next` of the answer before: a sequence. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  cursor?: number;

  /** Members of the events to answer, separated by commas; one that they never have is refused. */
  @IsOptional()
  @MaxLength(500)
  fields?: string;
}

export class PlanQuery {
  /** Only what concerns this node. */
  @IsOptional()
  @IsString()
  @Matches(NODE_NAME_PATTERN)
  node?: string;
}

export class FencingReportQuery {
  /** How far back. @default 7 */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(365)
  days?: number;
}

export class EvidenceQuery {
  /** Wall clock: ms, or ISO 8601. Absent: now. */
  @IsOptional()
  @IsString()
  @Length(1, 40)
  at?: string;
}

export class ForgetQuery {
  /** Why somebody knows that it does not run. */
  @IsOptional()
  @IsString()
  @Length(1, 500)
  @Matches(/^[^\r\n]*$/, { message: '$property must be one line' })
  reason?: string;
}

export class NodeListQuery extends ListQuery {
  /** Only these, separated by commas; unknown ones are left out. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : value))
  @IsArray()
  @ArrayMaxSize(1000)
  @Matches(NODE_NAME_PATTERN, { each: true })
  names?: string[];

  @IsOptional()
  @IsIn(NodeStatuses)
  status?: string;

  @IsOptional()
  @IsIn(['Unknown', 'Discovered', 'Disappeared'])
  state?: string;

  @IsOptional()
  @Matches(NAME_PATTERN)
  hostGroup?: string;

  @IsOptional()
  @Matches(NAME_PATTERN)
  failureDomain?: string;

  /** Runs a Muster agent. */
  @IsOptional()
  @Flag()
  @IsBoolean()
  enrolled?: boolean;

  @IsOptional()
  @Flag()
  @IsBoolean()
  inService?: boolean;

  /** `vars.rack=r1,failureDomain!=a,address`: all of it must hold. */
  @IsOptional()
  @IsString()
  @Length(1, 500)
  selector?: string;
}

export class NodeExportQuery {
  @IsIn(['yaml', 'csv'])
  format!: 'yaml' | 'csv';

  /** Only these, as in a list. */
  @IsOptional()
  @IsString()
  @Length(1, 500)
  selector?: string;
}

export class JobListQuery extends ListQuery {
  @IsOptional()
  @IsIn(JobStatuses)
  status?: string;

  @IsOptional()
  @IsIn(JobKinds)
  kind?: string;

  /** Only jobs of this node. */
  @IsOptional()
  @Matches(NODE_NAME_PATTERN)
  node?: string;
}

export class ClaimListQuery extends ListQuery {
  @IsOptional()
  @Matches(NAME_PATTERN)
  owner?: string;
}

export class IncidentListQuery extends ListQuery {
  /** Only those that are not ended. */
  @IsOptional()
  @Flag()
  @IsBoolean()
  open?: boolean;
}

export class AlarmListQuery extends ListQuery {
  /** Also those that are cleared. */
  @IsOptional()
  @Flag()
  @IsBoolean()
  all?: boolean;
}

export class LogQuery {
  /** Sequence of the first chunk. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  from?: number;

  /** Go on until the job has ended. */
  @IsOptional()
  @Flag()
  @IsBoolean()
  follow?: boolean;
}

/** Of lists, and of the stream, which has no limit. */
export class EventQuery extends LimitQuery {
  /** Kinds, separated by commas; `verdict` for the detector's. */
  @IsOptional()
  @Matches(/^[a-z-]+(,[a-z-]+)*$/)
  kind?: string;

  @IsOptional()
  @Matches(NODE_NAME_PATTERN)
  node?: string;

  /** Wall clock: ms, or ISO 8601. */
  @IsOptional()
  @IsString()
  @Length(1, 40)
  since?: string;
}

/** What a list's RPC takes of its query: all but the members that the gateway itself answers for. */
export function toPage<T extends ListQuery>(query: T): Omit<T, 'fields'> {
  const { fields: _fields, ...page } = query;
  return Object.fromEntries(Object.entries(page).filter(([, value]) => value !== undefined)) as Omit<T, 'fields'>;
}
