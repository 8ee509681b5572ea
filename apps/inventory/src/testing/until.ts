/** Resolves with the first answer of `look` that is one; rejects when there is none in time. */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  o: { timeoutMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + (o.timeoutMs ?? 30_000);
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not seen in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, o.everyMs ?? 20));
  }
}
