import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** SIGKILL, unless it has ended already; resolves when it is gone. */
export async function killAndWait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
