import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { musterRoot } from '../config/agent-config.js';

/** Where systemd reads units and their drop-ins from, the strongest first. */
const PLACES = ['etc/systemd/system', 'run/systemd/system', 'usr/lib/systemd/system', 'lib/systemd/system'];

/**
 * Is the start gate asked before each start of this unit? By its files, which are what the next boot goes by: an
 * `ExecStartPre=` of ours that no later one takes back, and whose failure is not ignored.
 */
export async function isGated(unit: string, workload: string): Promise<boolean> {
  let gated = false;
  for (const text of [await unitFile(unit), ...(await dropIns(unit))])
    for (const line of text.split('\n')) {
      const value = /^\s*ExecStartPre\s*=(.*)$/.exec(line)?.[1]?.trim();
      if (value === '') gated = false;
      else if (value !== undefined && asksGate(value, workload)) gated = true;
    }
  return gated;
}

/** `-` before a command ignores its failure; the other prefixes change what it may, and not what it decides. */
const asksGate = (command: string, workload: string): boolean => {
  const [program = '', name] = command.replace(/^[@:+!|]*/, '').split(/\s+/);
  return program.startsWith('/') && program.endsWith('/muster-gate') && name === workload;
};

async function unitFile(unit: string): Promise<string> {
  for (const place of PLACES) {
    const text = await unlessMissing(readFile(join(musterRoot(), '/', place, unit), 'utf8'));
    if (text !== undefined) return text;
  }
  return '';
}

/** In the order of their names, wherever they are; of one name the strongest place. */
async function dropIns(unit: string): Promise<string[]> {
  const found = new Map<string, string>();
  for (const place of PLACES) {
    const folder = join(musterRoot(), '/', place, `${unit}.d`);
    for (const file of (await unlessMissing(readdir(folder))) ?? [])
      if (file.endsWith('.conf') && !found.has(file)) found.set(file, join(folder, file));
  }
  const inOrder = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  // One that goes meanwhile is gone.
  return Promise.all(inOrder.map(async ([, path]) => (await unlessMissing(readFile(path, 'utf8'))) ?? ''));
}

/** Anything but its absence fails the look: who cannot read it does not know. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (e) {
    const { code } = e as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw e;
  }
}
