import { readFileSync } from 'node:fs';

/** CPU time of this process's main thread, ns: what others do on the machine is not in it. */
const cpuNs = (): bigint =>
  BigInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0] ?? '');

/** @returns what the loop computed at most without a pause while it was waited for, ms of CPU */
export async function longestTurnMs(during: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = during.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  let longest = 0n;
  let before = cpuNs();
  while (!isOver) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const now = cpuNs();
    if (now - before > longest) longest = now - before;
    before = now;
  }
  await end;
  return Number(longest / 1_000n) / 1_000;
}
