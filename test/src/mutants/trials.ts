import { setImmediate as signalsHeard } from 'node:timers/promises';

/**
 * Trials one after the other, each a single synchronous call. A signal that comes meanwhile, and perhaps ends the spec
 * that runs, is heard only after it: before its result is taken for one.
 */
export async function* trials<T, R>(
  list: readonly T[],
  trial: (item: T) => R,
): AsyncGenerator<{ item: T; result: R; seconds: number }> {
  for (const item of list) {
    const begun = performance.now();
    const result = trial(item);
    const seconds = (performance.now() - begun) / 1000;
    await signalsHeard();
    yield { item, result, seconds };
  }
}
