import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { MusterError } from '#contracts';

export function privateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

export type Content = string | Uint8Array;

/** Of mode 600. Aside, then renamed: a server that reads it meanwhile sees the old one or the new one. */
export function writePrivately(file: string, content: Content): void {
  writeAside(file, content);
  renameSync(asideOf(file), file);
}

/**
 * All of them, by path, or none: each is aside before the first takes its place. Their folders are made.
 * @throws MusterError CONFIG_INVALID, or what the file system says
 */
export function writeAllPrivately(files: ReadonlyMap<string, Content>): void {
  try {
    for (const [file, content] of files) {
      privateFolder(dirname(file));
      // Met only at the end, when others would have their places.
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
        throw new MusterError('CONFIG_INVALID', `${file} is a folder, and a file is to be written there`);
      writeAside(file, content);
    }
  } catch (e) {
    for (const file of files.keys()) rmSync(asideOf(file), { force: true });
    throw e;
  }
  for (const file of files.keys()) renameSync(asideOf(file), file);
}

const asideOf = (file: string): string => `${file}.new`;

function writeAside(file: string, content: Content): void {
  writeFileSync(asideOf(file), content, { mode: 0o600 });
  // The mode above is that of a new file: one that a crash has left keeps its own.
  chmodSync(asideOf(file), 0o600);
}
