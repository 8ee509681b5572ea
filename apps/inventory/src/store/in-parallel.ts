/** Requests on their way at once: the server's round trip, not this process, is what is waited for. */
const AT_ONCE = 32;

/** Does the same for each, many at once. @throws the first failure; those under way then go on */
export async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
      for (const item of waiting) await act(item);
    }),
  );
}
