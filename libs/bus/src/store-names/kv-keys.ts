import { fromToken, MusterError, token } from '#contracts';

/** Names as NATS KV has them: its own tools can read the buckets. */
export const bucketStream = (bucket: string): string => `KV_${bucket}`;
export const subjectOf = (bucket: string, key: string): string => `$KV.${bucket}.${encodeKey(key)}`;

const KEY = /^[-/_=a-zA-Z0-9]+$/;
/** `~` stands between the two names of a pair; NATS KV knows only `/` that no name can contain either. */
function encodeKey(key: string): string {
  const encoded = token(key).replaceAll('~', '/');
  if (key.includes('/') || !KEY.test(encoded)) throw new MusterError('BAD_REQUEST', `"${key}" cannot be a key`);
  return encoded;
}

/** What stands under a subject: a key of ours, or one that no program of ours could have written (`foreign`). */
export interface SubjectKey {
  key: string;
  foreign: boolean;
}

export function keyOf(bucket: string, subject: string): SubjectKey {
  const raw = subject.slice(`$KV.${bucket}.`.length);
  // Nothing in it stands for anything else: of nearly all, and asked for with every message of a bucket.
  if (KEY.test(raw) && !raw.includes('/') && !raw.includes('=2E')) return { key: raw, foreign: false };
  const key = fromToken(raw).replaceAll('/', '~');
  const foreign = !KEY.test(raw) || token(key).replaceAll('~', '/') !== raw;
  return { key: foreign ? raw : key, foreign };
}

/** Of a record that was found: a foreign key is its own subject. */
export const subjectFound = (bucket: string, { key, foreign }: { key: string; foreign?: boolean }): string =>
  foreign === true ? `$KV.${bucket}.${key}` : subjectOf(bucket, key);

/** Headers by which NATS KV says that a value was taken away. */
export const isMarker = (operation: string | undefined): boolean => operation === 'DEL' || operation === 'PURGE';
