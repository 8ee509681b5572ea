import { UsageFailure } from '../failure/failure.js';

/** `path.to.it=text`, or `path.to.it:=JSON`. */
export interface Assignment {
  path: string[];
  value: unknown;
}

/**
 * @param read what a text without `:=` means
 * @throws UsageFailure
 */
export function parseAssignment(text: string, read: (text: string) => unknown = (t) => t): Assignment {
  const match = /^([^=:]+)(:?=)(.*)$/s.exec(text);
  if (match === null) throw new UsageFailure(`"${text}": write key=value, or key:=JSON`);
  const [, key = '', sign, given = ''] = match;
  return { path: parsePath(key), value: sign === ':=' ? parseJson(key, given) : read(given) };
}

/** @throws UsageFailure */
export function parsePath(key: string): string[] {
  const path = key.split('.');
  if (path.includes('') || path.includes('__proto__')) throw new UsageFailure(`"${key}" names nothing`);
  return path;
}

/** JSON where it is JSON, a text otherwise: for values whose type the server knows. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is no JSON is meant as it stands.
    return text;
  }
}

/** All of them as one nested mapping. @throws UsageFailure where two say different things of one place */
export function toMapping(assignments: Assignment[]): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const { path, value } of assignments) put(all, path, value);
  return all;
}

function put(into: Record<string, unknown>, path: string[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) {
    if (Object.hasOwn(into, key)) throw new UsageFailure(`"${key}" is given twice`);
    into[key] = value;
    return;
  }
  if (!Object.hasOwn(into, key)) into[key] = {};
  const inner = into[key];
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner))
    throw new UsageFailure(`"${key}" is given twice`);
  put(inner as Record<string, unknown>, rest, value);
}

function parseJson(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageFailure(`${key}: not valid JSON: ${(cause as Error).message}`);
  }
}
