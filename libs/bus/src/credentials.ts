import { readFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import type { BusCredentials } from './types.js';

/** A credentials file as written by `muster init`: `{"user", "seed"}`. CONFIG_INVALID names the file and what is wrong. */
export function readCredentials(file: string): BusCredentials {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (e) {
    throw new MusterError('CONFIG_INVALID', `credentials ${file}: ${(e as Error).message}`, {}, { cause: e });
  }
  let read: Partial<BusCredentials> | null;
  try {
    read = JSON.parse(text) as Partial<BusCredentials> | null;
  } catch {
    // Its text may hold the seed: the parser's message would quote it.
    throw new MusterError('CONFIG_INVALID', `credentials ${file}: not JSON`);
  }
  if (typeof read?.user !== 'string' || typeof read.seed !== 'string')
    throw new MusterError('CONFIG_INVALID', `credentials ${file}: {"user", "seed"} expected`);
  return { user: read.user, seed: read.seed };
}
