import { createHash, randomBytes } from 'node:crypto';

const ADMIN = 'admin';

/** An entry of the file `http.tokens`. */
export interface TokenEntry {
  name: string;
}

/**
 * A new admin token, and the entries of `http.tokens` with its hash in place of the one before.
 * @param others entries that are there
 */
export function newAdminToken(others: readonly TokenEntry[]): { token: string; file: string } {
  const token = randomBytes(32).toString('hex');
  const entry = { name: ADMIN, role: 'admin', sha256: createHash('sha256').update(token).digest('hex') };
  return { token, file: `${JSON.stringify([...others.filter(({ name }) => name !== ADMIN), entry])}\n` };
}
