import { systemClock } from '../system/system-clock.js';

/**
 * Asks the same again after each `everyMs` without an answer, until `limitMs` are over: the first answer counts, also a
 * refusal, to whichever of them it is. For what may be asked twice.
 * @param ask told how much of the limit is left, ms; rejects when that is over
 */
export async function askAgain<T>(ask: (leftMs: number) => Promise<T>, everyMs: number, limitMs: number): Promise<T> {
  const tries = [ask(limitMs)];
  for (let left = limitMs - everyMs; left > 0; left -= everyMs) {
    const first = Promise.race(tries);
    const again = new AbortController();
    const waited = systemClock.sleep(everyMs, { signal: again.signal }).then(() => 'again' as const);
    try {
      if ((await Promise.race([first.then(() => 'answered' as const), waited])) === 'answered') return await first;
    } finally {
      again.abort();
    }
    tries.push(ask(left));
    // Whichever fails after the first answer is nobody's news.
    tries.at(-1)?.catch(() => undefined);
  }
  return Promise.race(tries);
}
