import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { startOf } from './processes.js';
import { until } from './until.js';

/** Runs `work` while no other command of the lab holds this file. One that died is no holder. */
export async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const me = `${process.pid} ${startOf(process.pid)}`;
  await until(`${file} to be let go`, 30_000, () => (take(file, me) ? true : undefined), 5);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Linked, so that nobody ever sees it without its holder's name. */
function take(file: string, me: string): boolean {
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, me);
  try {
    linkSync(aside, file);
    return true;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
    const [pid, start] = readFileSync(file, 'utf8').split(' ').map(Number);
    if (pid !== undefined && startOf(pid) !== start) rmSync(file, { force: true });
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}
