import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const folder = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Runs a command in the project's folder with its output on our stderr. Node's own spawn, here and in the other files
 * of the set-up, not execa: they run before node packages are installed.
 * @returns its exit code; a command that a signal ended, or that could not be started, answers 1.
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 2, 2], ...options });
    child.on('error', (error) => {
      process.stderr.write(`setup: ${command}: ${error.message}\n`);
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}
