import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { UsageFailure } from '../failure/failure.js';
import type { Address } from './address.js';

/**
 * Certificates (PEM) to trust in the place of those that Node trusts; undefined: those.
 * @param option `--ca`, which without an address that it is for would do nothing
 * @param variable the same from the environment, for all addresses that may come
 * @throws UsageFailure
 */
export function authorityFor(
  addresses: readonly Address[],
  option: string | undefined,
  variable: string | undefined,
): string | undefined {
  const from = option === undefined ? 'MUSTER_CA' : '--ca';
  const file = option ?? variable;
  if (file === undefined) return undefined;
  if (!addresses.some((address) => address.protocol === 'https:')) {
    if (option === undefined) return undefined;
    throw new UsageFailure(`--ca ${file}: no address is https:// (--url, MUSTER_URL)`);
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (e) {
    throw new UsageFailure(`${from} ${file}: ${(e as Error).message}`);
  }
  try {
    new X509Certificate(text);
  } catch {
    throw new UsageFailure(`${from} ${file}: a certificate (PEM) is expected in it`);
  }
  return text;
}
