import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file so that a reader, also after a power cut, sees the old text or the new one, never half of either:
 * written aside, synced, renamed, and the folder synced so that the rename stays. Rejects with the error of the file
 * system; nothing is left aside then.
 */
export async function writeDurably(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true });
  const aside = `${file}.${process.pid}.new`;
  const handle = await open(aside, 'w', 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(aside, file);
  } catch (e) {
    // A disk that is full must not fill up with what did not fit. Where even that fails, the first failure is told.
    await Promise.allSettled([unlink(aside)]);
    throw e;
  }
  const dir = await open(folder, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}
