import { MusterError } from '../errors/errors.js';

/** Half of a surrogate pair. */
const NO_CHARACTER = /\p{Cs}/u;
/** Control characters but tab and line ends: they steer terminals, and nothing that we take needs them. */
const CONTROL = /(?![\t\n\r])\p{Cc}/u;

/** Levels of nesting. */
const DEEPEST = 40;

/**
 * One rule for all that comes in, whatever it comes in: texts are characters that steer no terminal, and no key reaches
 * an object's prototype, numbers are what JSON can hold, and nothing is so deep that who reads it later overflows.
 * @param where what it stands in, for the sentence: `the body`
 * @throws MusterError BAD_REQUEST
 */
export function refuseHostile(value: unknown, where = 'the body', depth = 0): void {
  if (typeof value === 'string') return refuseText(value, where);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new MusterError('BAD_REQUEST', `a number of ${where} is too large, or none: it could not be stored`);
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEEPEST) throw new MusterError('BAD_REQUEST', `${where} is nested more than ${DEEPEST} levels deep`);
  for (const [key, inner] of Object.entries(value)) {
    refuseText(key, where);
    if (key === '__proto__' || key === 'constructor')
      throw new MusterError('BAD_REQUEST', `the key "${key}" is not allowed in ${where}`);
    refuseHostile(inner, where, depth + 1);
  }
}

function refuseText(text: string, where: string): void {
  if (NO_CHARACTER.test(text))
    throw new MusterError('BAD_REQUEST', `a text of ${where} holds half of a surrogate pair, which is no character`);
  if (CONTROL.test(text))
    throw new MusterError('BAD_REQUEST', `a text of ${where} holds a control character; tab and line ends are allowed`);
}
