import { run } from './run.js';
import type { LabFolder } from './folder.js';

/** Debian's own python, without site packages and without the caller's environment: what runs inside hosts too. */
export const PYTHON = '/usr/bin/python3';

const LIMIT_MS = 60_000;

/** A program of lab/host, as copied into the lab's folder: a lab that runs is not changed by edits. */
export function hostProgram(folder: LabFolder, program: string, ...args: string[]): Promise<string> {
  return longHostProgram(0, folder, program, ...args);
}

/** One that is to take so many ms by itself. */
export function longHostProgram(ms: number, folder: LabFolder, program: string, ...args: string[]): Promise<string> {
  return run(PYTHON, ['-I', '-S', folder.at('lib', `${program}.py`), ...args], { timeoutMs: LIMIT_MS + ms });
}
