import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, run } from './run.mjs';

/** `npm ci`, only where what is installed differs from the lock. */
export async function installNodePackages(say) {
  if (asLocked()) return;
  say('installing node packages from the lock (npm ci)');
  // Under `npm run` this is the npm that runs us, which need not be on PATH.
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  // The build needs the development packages also where NODE_ENV says production.
  const options = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  if ((await run(command, [...first, ...options])) !== 0) throw new Error('npm ci failed; its own words stand above');
}

/**
 * npm leaves a record of what it installed, written last, beside the packages: compared with the lock entry by entry,
 * so that a half-done, older or hand-changed installation is seen. Optional packages of other platforms may be absent.
 */
function asLocked() {
  const lock = packages('package-lock.json');
  const installed = packages(join('node_modules', '.package-lock.json'));
  if (lock === undefined || installed === undefined) return false;
  const same = (path) =>
    installed[path]?.version === lock[path]?.version && installed[path]?.integrity === lock[path]?.integrity;
  return (
    Object.entries(lock).every(([path, entry]) => path === '' || entry.optional || same(path)) &&
    Object.keys(installed).every(same)
  );
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
