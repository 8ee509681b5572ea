/**
 * Begins each work when the one before it calls `begun`, and then they run beside each other. Where one fails before that,
 * those behind it do not begin. It ends when all that have begun have ended, and rejects with the first failure.
 */
export async function inTurn(works: readonly ((begun: () => void) => Promise<void>)[]): Promise<void> {
  const runs: Promise<void>[] = [];
  try {
    for (const work of works) {
      const begun = new Promise<void>((resolve) => runs.push(work(resolve)));
      await Promise.race([begun, runs.at(-1)]);
    }
    await Promise.all(runs);
  } finally {
    await Promise.allSettled(runs);
  }
}
