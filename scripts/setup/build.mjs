import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, run } from './run.mjs';

const sources = ['apps', 'libs', 'lab', 'test', 'bench', 'sim'];
const stamp = join(folder, 'dist', '.built');

/**
 * `tsc -p`, only where a source, the compiler's options or the installed packages have changed since the last build
 * that had no errors. A type error stops what follows.
 */
export async function build(say) {
  const now = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return;
  say('building');
  rmSync(stamp, { force: true });
  for (const dir of sources) removeOrphans(dir);
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
  const code = await run(process.execPath, [tsc, '-p', 'tsconfig.json']);
  if (code !== 0) throw new Error("the build failed; the compiler's words stand above");
  writeFileSync(stamp, now);
}

/** Path, size and time of change of all that goes into the build: also a deleted file changes it. */
function fingerprint() {
  const hash = createHash('sha256');
  const add = (path) => {
    const { size, mtimeMs } = statSync(join(folder, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  };
  for (const dir of sources) for (const file of files(dir, '.ts')) add(file);
  for (const file of ['tsconfig.json', 'package.json', join('node_modules', '.package-lock.json')]) add(file);
  return hash.digest('hex');
}

function files(dir, ending) {
  const root = join(folder, dir);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(dir, name));
}

/** What was built from a source that is gone must not be found and run. */
function removeOrphans(dir) {
  for (const built of files(join('dist', dir), '.js')) {
    const source = join(folder, built.slice('dist/'.length).replace(/\.js$/, '.ts'));
    if (existsSync(source)) continue;
    rmSync(join(folder, built));
    rmSync(join(folder, `${built}.map`), { force: true });
    // tsc would trust its memory of the last build, and not write the file again should it come back.
    rmSync(join(folder, 'dist', '.tsbuildinfo'), { force: true });
  }
}
