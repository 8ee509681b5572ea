import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import { Executor } from '../conductor/executor.js';
import { EVERYTHING, type Reconciler } from '../conductor/task.js';

/**
 * One run by the executor, in a term that lasts.
 * @param o.now monotonic ms. @default 0
 * @param o.token @default 1
 * @param o.failed takes what is logged of each failure. @default a failure is thrown
 */
export async function playRun(
  reconciler: Reconciler,
  o: { now?: number; token?: number; failed?: (facts: object) => void } = {},
): Promise<void> {
  const { now = 0, token = 1, failed } = o;
  const thrown: string[] = [];
  const error = (facts: object, message: string): void => {
    if (failed) failed(facts);
    else thrown.push(message);
  };
  const executor = new Executor(
    { begin: () => token, check: () => token },
    { ...systemClock, monotonicMs: () => now },
    systemRandom,
    { debug: () => undefined, error },
  );
  executor.add({ name: 'played', watches: EVERYTHING, periodMs: 1000, severity: 'warning', reconciler });
  executor.wakeAll();
  await executor.close();
  if (thrown.length > 0) throw new Error(thrown.join('; '));
}
