import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { MusterError } from '#contracts';

export function privateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Of mode 600. Aside, then renamed: a server that reads it meanwhile sees the old one or the new one. */
export function writePrivately(file: string, content: string | Buffer): void {
  const aside = `${file}.new`;
  writeFileSync(aside, content, { mode: 0o600 });
  chmodSync(aside, 0o600);
  renameSync(aside, file);
}

export type Content = string | Uint8Array;

/**
 * All of them, by path, or none: each is aside before the first takes its place. Their folders are made.
 * @throws MusterError CONFIG_INVALID, or what the file system says
 */
export function writeAllPrivately(files: ReadonlyMap<string, Content>): void {
  const aside = [...files].map(([file, text]) => ({ file, text, aside: `${file}.new` }));
  try {
    for (const { file, text, aside: path } of aside) {
      privateFolder(dirname(file));
      // Met only at the end, when others would have their places.
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
        throw new MusterError('CONFIG_INVALID', `${file} is a folder, and a file is to be written there`);
      writeFileSync(path, text, { mode: 0o600 });
      chmodSync(path, 0o600);
    }
  } catch (e) {
    for (const { aside: path } of aside) rmSync(path, { force: true });
    throw e;
  }
  for (const { file, aside: path } of aside) renameSync(path, file);
}
