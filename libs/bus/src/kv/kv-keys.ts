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
export const decodeKey = (bucket: string, subject: string): string =>
  fromToken(subject.slice(`$KV.${bucket}.`.length)).replaceAll('/', '~');

/** Headers by which NATS KV says that a value was taken away. */
export const isMarker = (operation: string | undefined): boolean => operation === 'DEL' || operation === 'PURGE';
