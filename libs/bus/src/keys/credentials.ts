import { readFileSync } from 'node:fs';
import { MusterError } from '#contracts';
import type { BusCredentials } from '../ports/types.js';

/**
 * A credentials file as written by `muster init`: `{"user", "seed", "jwt", "ca", "ownAccount"}`, the CA
 * where NATS speaks TLS, the last where the user shares no account. CONFIG_INVALID names the file and what is wrong.
 */
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
  const { user, seed, jwt, ca, ownAccount } = read ?? {};
  if (typeof user !== 'string' || typeof seed !== 'string' || typeof jwt !== 'string')
    throw new MusterError('CONFIG_INVALID', `credentials ${file}: {"user", "seed", "jwt"} expected`);
  if (ca !== undefined && (typeof ca !== 'string' || !ca.includes('-----BEGIN CERTIFICATE-----')))
    throw new MusterError('CONFIG_INVALID', `credentials ${file}: "ca" must be a certificate, PEM`);
  return { user, seed, jwt, ...(ca !== undefined && { ca }), ...(ownAccount === true && { ownAccount }) };
}
