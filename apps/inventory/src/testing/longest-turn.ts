import { readFileSync } from 'node:fs';

/** CPU time of this process's main thread, ns: what others do on the machine is not in it. */
const cpuNs = (): bigint =>
  BigInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0] ?? '');

/** Between two looks, ms: a loop without any pause takes the CPU from what it looks at. */
const LOOK_MS = 1;

/**
 * @param onLonger told of each turn that is longer than all before it, ms of CPU
 * @returns what the loop computed at most without a pause of {@link LOOK_MS} while it was waited for, ms of CPU
 */
export async function longestTurnMs(during: Promise<unknown>, onLonger?: (ms: number) => void): Promise<number> {
  let isOver = false;
  const end = during.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  let longest = 0n;
  let before = cpuNs();
  while (!isOver) {
    await new Promise<void>((resolve) => setTimeout(resolve, LOOK_MS));
    const now = cpuNs();
    if (now - before > longest) {
      longest = now - before;
      onLonger?.(msOf(longest));
    }
    before = now;
  }
  await end;
  return msOf(longest);
}

const msOf = (ns: bigint): number => Number(ns / 1_000n) / 1_000;
