import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';

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
