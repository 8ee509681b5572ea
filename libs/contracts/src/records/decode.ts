import { MusterError } from '../errors/errors.js';
import { Buckets, type BucketName } from '../names/subjects.js';
import type { IncidentRecord } from '../incident/incident.js';
import { incidentIn, POWER_RECORD_SCHEMA, powerRecordOf, type PowerRecord } from '../incident/power-record.js';
import { shapeOf } from './record-shapes.js';
import { object, number, unwritable } from './shape.js';

/**
 * Versions of records that this program reads. A record without member `schema` is of the first, in which all is in
 * clear. In the second, what is secret among the members of `sealable` is sealed: whoever knows the first only refuses
 * it, instead of taking what is sealed for the value. Of bucket `incidents` the second is the {@link PowerRecord}.
 */
const SCHEMAS: readonly unknown[] = [1, 2];
export const SEALED_SCHEMA = 2;

/**
 * What a program reads of what this version stores, by number: 2 what is sealed, 3 power records as well. Absent where
 * it is told: of a version of before both. A fencer that says 3 asks a proven device who it is before its `off`, as one of
 * before may not: by this number inventory tells whom to let power anything off.
 */
export const READS = { sealed: 2, powerRecords: 3 } as const;

/** A value of a bucket that no program follows. */
export interface UnreadableRecord {
  bucket: BucketName;
  /** As it stands in the bucket; of no record that this program would write where `foreign` is set. */
  key: string;
  revision: number;
  /** One phrase. */
  why: string;
  /** It is sealed, and the key of this process does not open it: it is whole. */
  sealed?: true;
  /** No program writes such a key. */
  foreign?: true;
}

/** What stands between records and the store. A process that has none sees and writes them as they are stored. */
export interface RecordSeal {
  /** A record as its readers see it. @throws MusterError CONFIG_INVALID: it is sealed, and the key does not open it */
  open(bucket: BucketName, stored: object): unknown;
  /** A record as it is stored. @throws MusterError CONFIG_INVALID: it has to be sealed, and the key cannot be read */
  seal(bucket: BucketName, value: unknown): unknown;
}

export type Decoded = { value: unknown } | Pick<UnreadableRecord, 'why' | 'sealed'>;

const versioned = object({}, { schema: number });
/** Names a record in every bucket where its key says whose it is: one under another key would speak for another. */
const ownName: Partial<Record<BucketName, string>> = {
  nodes: 'name',
  incidents: 'node',
  jobs: 'id',
  workloads: 'name',
  tokens: 'name',
};

/**
 * A record as it stands in a bucket, or why it cannot be read. Maps of the value have no prototype. Never throws,
 * whatever stands there.
 * @param open of a record that is sealed, as {@link RecordSeal}. @default as it stands
 */
export function decode(bucket: BucketName, key: string, stored: string, open?: RecordSeal['open']): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(stored);
  } catch {
    return { why: 'it is not JSON' };
  }
  const unread = versioned(value, '') ?? newer(value as object) ?? unwritable(value);
  if (unread !== undefined) return { why: unread };
  const { schema = 1 } = value as { schema?: number };
  try {
    if (isSealed(value as object)) value = open?.(bucket, value as object) ?? value;
  } catch (e) {
    return { why: MusterError.from(e).message, sealed: true };
  }
  const why = shapeOf(bucket, key, schema)(value, '');
  if (why !== undefined) return { why };
  const own = ownName[bucket];
  if (own !== undefined && (value as Record<string, unknown>)[own] !== key) return { why: `${own} is not its key` };
  return { value: bucket === 'incidents' && schema === POWER_RECORD_SCHEMA ? incidentIn(value as PowerRecord) : value };
}

/** An incident's record for who does not read it through a bus. @throws Error with its key, and why it cannot be read */
export function decodeIncident(node: string, stored: string): IncidentRecord {
  const decoded = decode('incidents', node, stored);
  if ('why' in decoded) throw new Error(`the incident of ${node} cannot be read: ${decoded.why}`);
  return decoded.value as IncidentRecord;
}

/** The way in and the way out of buckets: one who gives a way of its own gives both, so that it reads what it writes. */
export interface RecordCodec {
  decode: (bucket: BucketName, key: string, stored: string) => Decoded;
  encode: (bucket: BucketName, value: unknown) => string;
}

/** The text of a record as it stands in a bucket, of the newest schema. */
export const encode = (bucket: BucketName, value: unknown): string =>
  JSON.stringify(bucket === 'incidents' ? powerRecordOf(value as IncidentRecord) : value);

const newer = (value: { schema?: unknown }): string | undefined =>
  Object.hasOwn(value, 'schema') && !SCHEMAS.includes(value.schema)
    ? `its schema is ${String(value.schema)}, and this version reads ${SCHEMAS.join(' and ')}`
    : undefined;

const isSealed = (value: { schema?: unknown }): boolean =>
  Object.hasOwn(value, 'schema') && value.schema === SEALED_SCHEMA;

/** What to do about a record that cannot be read. */
export const unreadableRemedy = (r: UnreadableRecord): string =>
  r.sealed === true
    ? 'Give this service the key file that sealed it (keys.secrets), and restart it; only where that file is lost: ' +
      `muster record delete ${r.bucket} '${r.key}' --reason …`
    : `Look at it, then: muster record delete ${r.bucket} '${r.key}' --reason …`;

/** @returns what the caller of a record that cannot be read is told: nothing is decided without it */
export const unreadable = (r: UnreadableRecord): MusterError =>
  new MusterError(
    'RECORD_UNREADABLE',
    `the record ${r.bucket}/${r.key} cannot be read (${r.why}); nothing is decided without it. ${unreadableRemedy(r)}`,
    { ...r },
  );

export const isBucket = (name: string): name is BucketName => (Buckets as readonly string[]).includes(name);
