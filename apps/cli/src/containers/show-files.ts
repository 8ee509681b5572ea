import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { privateFolder, writePrivately } from '#bus/init/private-files.js';
import { Containers, filesIn, shownFiles, type Container } from '#bus/init/shown-files.js';
import { demoFiles } from './demo-files.js';

/**
 * Brings what each container sees, `shown/<container>`, up to what the installation's folder holds. Only what differs is
 * written, aside and then renamed: a service that starts meanwhile reads the old file or the new one.
 * @returns whose files have changed: they read them at their next start
 */
export function showFiles(dir: string, shown: string): (Container | 'demo')[] {
  const parts = [
    ...Containers.map((container) => ({ container, paths: shownFiles[container] })),
    { container: 'demo' as const, paths: demoFiles(dir) },
  ];
  const changed = parts.filter(({ container, paths }) => {
    const to = join(shown, container);
    const files = paths.flatMap((path) => filesIn(dir, path));
    for (const folder of foldersOf(dir, paths)) privateFolder(join(to, folder));
    const written = files.filter((file) => copy(join(dir, file), join(to, file)));
    const gone = filesIn(to, '.').filter((file) => !files.includes(file));
    for (const file of gone) rmSync(join(to, file));
    return written.length + gone.length > 0;
  });
  return changed.map(({ container }) => container);
}

/** Also where they hold nothing: an operator's own folders are mounted over them, and no folder can be made in a volume that is read only. */
const foldersOf = (dir: string, paths: readonly string[]): string[] =>
  paths.filter((path) => existsSync(join(dir, path)) && statSync(join(dir, path)).isDirectory());

function copy(from: string, to: string): boolean {
  const content = readFileSync(from);
  if (existsSync(to) && readFileSync(to).equals(content)) return false;
  privateFolder(dirname(to));
  writePrivately(to, content);
  return true;
}
