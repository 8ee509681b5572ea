import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { LabFolder } from './folder.js';

/** One password for the lab's BMCs, made at `up`. 16 characters: IPMI takes at most 20 bytes. */
export function bmcPassword(folder: LabFolder): string {
  const file = folder.at('run', 'bmc-password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(8).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
