import type { Daemon } from '#bus/testing/daemon.js';

/** SIGKILL, unless it has ended already; resolves when it is gone. */
export async function killAndWait(child: Daemon): Promise<void> {
  child.kill('SIGKILL');
  await child;
}

/**
 * Loses its power: it answers nobody from the call on, and SIGKILL ends it once its cables are cut. A process that is
 * killed first has its connections closed by the kernel, which the dead do not do; and cables take some 20 ms to cut.
 */
export async function losePower(child: Daemon | undefined, cutCables: () => Promise<void>): Promise<void> {
  child?.kill('SIGSTOP');
  try {
    await cutCables();
  } finally {
    if (child !== undefined) await killAndWait(child);
  }
}
