import { MusterError } from '../errors.js';
import { Buckets, type BucketName } from '../rpc/subjects.js';
import { shapeOf } from './record-shapes.js';
import { object, number, unwritable } from './shape.js';

/** Version of the records that this program writes and reads. A record without member `schema` is of this one. */
export const SCHEMA = 1;

/** A value of a bucket that no program follows. */
export interface UnreadableRecord {
  bucket: BucketName;
  /** As it stands in the bucket; of no record that this program would write where `foreign` is set. */
  key: string;
  revision: number;
  /** One phrase. */
  why: string;
  /** No program writes such a key. */
  foreign?: true;
}

export type Decoded = { value: unknown } | { why: string };

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
 */
export function decode(bucket: BucketName, key: string, stored: string): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(stored);
  } catch {
    return { why: 'it is not JSON' };
  }
  const why = versioned(value, '') ?? newer(value as object) ?? unwritable(value) ?? shapeOf(bucket, key)(value, '');
  if (why !== undefined) return { why };
  const own = ownName[bucket];
  if (own !== undefined && (value as Record<string, unknown>)[own] !== key) return { why: `${own} is not its key` };
  return { value };
}

const newer = (value: { schema?: unknown }): string | undefined =>
  Object.hasOwn(value, 'schema') && value.schema !== SCHEMA
    ? `its schema is ${String(value.schema)}, and this version reads ${SCHEMA}`
    : undefined;

/** @returns what the caller of a record that cannot be read is told: nothing is decided without it */
export const unreadable = (r: UnreadableRecord): MusterError =>
  new MusterError(
    'RECORD_UNREADABLE',
    `the record ${r.bucket}/${r.key} cannot be read (${r.why}); nothing is decided without it. ` +
      `Look at it, then: muster record delete ${r.bucket} ${r.key} --reason …`,
    { ...r },
  );

export const isBucket = (name: string): name is BucketName => (Buckets as readonly string[]).includes(name);
