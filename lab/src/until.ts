import { MusterError } from '#contracts';

/** Thrown by a look of {@link until}: what was awaited cannot come any more; `cause` says why. */
export class Hopeless extends Error {
  constructor(cause: unknown) {
    super('hopeless', { cause });
  }
}

/**
 * Looks every few milliseconds at something that tells nobody when it changes: /proc, a file that another program
 * writes, a server that does not listen yet. A look that throws counts as "not yet". TIMEOUT says what was waited for,
 * and the last failure met.
 */
export async function until<T>(
  what: string,
  timeoutMs: number,
  look: () => T | undefined | Promise<T | undefined>,
  everyMs = 10,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  let failure = '';
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      failure = '';
    } catch (e) {
      if (e instanceof Hopeless) throw e.cause;
      failure = `; last: ${e instanceof Error ? e.message : String(e)}`;
    }
    if (performance.now() > end)
      throw new MusterError('TIMEOUT', `waited ${timeoutMs / 1000} s for ${what}; it did not come${failure}`);
    await new Promise((r) => setTimeout(r, everyMs));
  }
}
