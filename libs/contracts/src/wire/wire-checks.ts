/** A whole number from 0 on. */
export const isCount = (x: unknown): x is number => typeof x === 'number' && Number.isSafeInteger(x) && x >= 0;

/** @param most characters */
export const isText = (x: unknown, most = 128): x is string =>
  typeof x === 'string' && x.length > 0 && x.length <= most;
