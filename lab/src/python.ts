import { run } from './run.js';
import type { LabFolder } from './folder.js';

/** Debian's own python, without site packages and without the caller's environment: what runs inside hosts too. */
export const PYTHON = '/usr/bin/python3';

/** A program of lab/host, as copied into the lab's folder: a lab that runs is not changed by edits. */
export function hostProgram(folder: LabFolder, program: string, ...args: string[]): Promise<string> {
  return run(PYTHON, ['-I', '-S', folder.at('lib', `${program}.py`), ...args], { timeoutMs: 60_000 });
}
