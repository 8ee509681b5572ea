import { readFileSync } from 'node:fs';

/** Its child processes, as this machine numbers them; none where it has ended. */
export function childrenOf(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch (e) {
    // ESRCH: it has ended while it was read.
    if (['ENOENT', 'ESRCH'].includes((e as NodeJS.ErrnoException).code ?? '')) return [];
    throw e;
  }
}
