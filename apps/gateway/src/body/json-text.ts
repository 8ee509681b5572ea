import type { IncomingHttpHeaders } from 'node:http';
import { MusterError, refuseHostile } from '#contracts';

/** Bytes of a request body, at most. */
export const BODY_LIMIT = 1024 * 1024;
/** Levels of nesting in a request body, at most: validators and templates recurse. */
const DEPTH_LIMIT = 32;

const utf8 = new TextDecoder('utf-8', { fatal: true });
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
 * The text of a body. @throws MusterError BAD_REQUEST: it is not UTF-8
 */
export function bodyText(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new MusterError('BAD_REQUEST', 'the body is not valid UTF-8', {}, { cause });
  }
}

/**
 * @throws MusterError BAD_REQUEST: not JSON, nested too deep, with a key that would reach an object's prototype or that
 * class-transformer stumbles over, or with characters that are none or that steer a terminal.
 */
export function parseJsonText(text: string): unknown {
  refuseDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MusterError('BAD_REQUEST', `the body is not valid JSON: ${(cause as Error).message}`, {}, { cause });
  }
  refuseHostile(value);
  return value;
}

/** Before it is parsed: half a million brackets cost the parser a quarter of a second, and this a few ms. */
export function refuseDepth(text: string): void {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (c === '"') inText = !inText;
    else if (inText && c === '\\') at += 1;
    else if (inText) continue;
    else if (c === '}' || c === ']') depth -= 1;
    else if ((c === '{' || c === '[') && ++depth > DEPTH_LIMIT)
      throw new MusterError('BAD_REQUEST', `the body is nested more than ${DEPTH_LIMIT} levels deep`);
  }
}
