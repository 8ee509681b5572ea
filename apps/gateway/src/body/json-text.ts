import type { IncomingHttpHeaders } from 'node:http';
import { MusterError } from '#contracts';

/** Bytes of a request body, at most. */
export const BODY_LIMIT = 1024 * 1024;
/** Levels of nesting in a request body, at most: validators and templates recurse. */
export const DEPTH_LIMIT = 32;

/** `application/json`, `application/merge-patch+json`, … with or without parameters. */
export const isJsonType = (contentType: string | undefined): boolean =>
  /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json\s*(?:;|$)/i.test(contentType?.trim() ?? '');

/** @throws MusterError UNSUPPORTED_MEDIA_TYPE: there is a body, and it does not say that it is JSON. */
export function requireJson(headers: IncomingHttpHeaders): void {
  const bodyless = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
  if (!bodyless && !isJsonType(headers['content-type']))
    throw new MusterError('UNSUPPORTED_MEDIA_TYPE', 'send the body as application/json');
}

/**
 * @throws MusterError BAD_REQUEST: not JSON, nested too deep, or with a key that would reach an object's prototype.
 */
export function parseJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MusterError('BAD_REQUEST', `the body is not valid JSON: ${(cause as Error).message}`, {}, { cause });
  }
  refuseHostile(value, 0);
  return value;
}

export function refuseHostile(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= DEPTH_LIMIT)
    throw new MusterError('BAD_REQUEST', `the body is nested more than ${DEPTH_LIMIT} levels deep`);
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__' || (key === 'constructor' && typeof inner === 'object' && inner !== null))
      throw new MusterError('BAD_REQUEST', `the key "${key}" is not allowed in a body`);
    refuseHostile(inner, depth + 1);
  }
}
