import { createHash, randomBytes } from 'node:crypto';

/** An entry of the file `http.tokens`. */
export interface TokenEntry {
  name: string;
}

/**
 * A new admin token, and the entries of `http.tokens` with its hash in place of the one of that name.
 * @param others entries that are there
 */
export function newAdminToken(
  others: readonly TokenEntry[],
  name = 'admin',
): { token: string; entries: TokenEntry[]; file: string } {
  const token = randomBytes(32).toString('hex');
  const entry = { name, role: 'admin', sha256: createHash('sha256').update(token).digest('hex') };
  const entries = [...others.filter((other) => other.name !== name), entry];
  return { token, entries, file: `${JSON.stringify(entries)}\n` };
}
