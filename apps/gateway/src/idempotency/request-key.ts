import { createHash, createHmac } from 'node:crypto';
import { MusterError } from '#contracts';

/** What makes two requests the same one. */
export interface KeyedRequest {
  /** Name of the caller: two callers may use one key without meeting. */
  by: string;
  /** As it was sent. */
  key: string;
  method: string;
  /** With its query. */
  url: string;
  body: Uint8Array;
}

/** Visible ASCII: a space or a comma would also be what is left of a header that was sent twice. */
const KEY = /^[\x21-\x2b\x2d-\x7e]{1,255}$/;

/** @throws MusterError BAD_REQUEST */
export function readKey(header: string | string[]): string {
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new MusterError('BAD_REQUEST', 'Idempotency-Key takes 1 to 255 visible ASCII characters without a comma, once');
}

/** Key of the record: neither the caller nor the key can be read from it. */
export const recordKey = ({ by, key }: Pick<KeyedRequest, 'by' | 'key'>): string =>
  createHash('sha256').update(`${by}\0${key}`).digest('hex');

/**
 * Two requests with one key are the same when this is. It is keyed, since a body may hold a short password, which
 * whoever reads the bucket could guess from a bare hash.
 */
export const fingerprint = ({ key, method, url, body }: KeyedRequest): string =>
  createHmac('sha256', key).update(`${method} ${url}\n`).update(body).digest('hex');
