import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../peers/durable-file.js';

/**
 * The number of this start, larger than that of every start before. It is kept on disk; where that was lost (a new
 * system disk) the wall clock's seconds stand in, for a fleet is never started once a second.
 */
export async function nextEpoch(stateDir: string, wallMs: number): Promise<number> {
  const file = join(stateDir, 'epoch');
  const epoch = Math.max((await stored(file)) + 1, Math.floor(wallMs / 1000));
  await writeDurably(file, `${epoch}\n`);
  return epoch;
}

async function stored(file: string): Promise<number> {
  try {
    const value = Number((await readFile(file, 'utf8')).trim());
    return Number.isSafeInteger(value) && value >= 0 ? value : 0;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw e;
  }
}
