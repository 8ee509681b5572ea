import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

export const number =
  (least: number) =>
  (text: string): number => {
    const n = Number(text);
    if (!Number.isFinite(n) || n < least) throw new InvalidArgumentError(`a number from ${least} on is expected.`);
    return n;
  };
export const whole =
  (least: number) =>
  (text: string): number => {
    const n = number(least)(text);
    if (!Number.isInteger(n)) throw new InvalidArgumentError('a whole number is expected.');
    return n;
  };
export const port = (text: string): number => {
  const n = whole(0)(text);
  if (n > 65_535) throw new InvalidArgumentError('a port is at most 65535.');
  return n;
};
/** Absolute. */
export const folder = (text: string): string => {
  if (statSync(text, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new InvalidArgumentError('a folder that exists is expected.');
  return resolve(text);
};
