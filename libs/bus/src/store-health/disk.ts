import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Disk } from './store-health.js';

/** Root may write what is reserved for it. */
export const diskFrom = (path: string, { bsize, blocks, bfree, bavail }: StatsFs): Disk => ({
  path,
  totalBytes: blocks * bsize,
  freeBytes: (process.getuid?.() === 0 ? bfree : bavail) * bsize,
});

/** Undefined where it cannot be asked: then nothing is known of it, which is no fault of its own. */
export async function readDisk(path: string): Promise<Disk | undefined> {
  try {
    return diskFrom(path, await statfs(path));
  } catch {
    return undefined;
  }
}
