/**
 * What shares a fleet, run on it: where that fails, those of it without a result have failed, and nobody else. A fleet
 * that does not come up takes the hours of its own scenarios, not those of the others.
 *
 * @param results grows by what `run` has seen, and by what it has not come to
 */
export async function orFail<S extends { name: string }, R extends { name: string }>(
  wanted: readonly S[],
  results: R[],
  run: () => Promise<void>,
  failed: (s: S, cause: unknown) => R,
): Promise<void> {
  try {
    await run();
  } catch (cause) {
    results.push(...wanted.filter((s) => !results.some((r) => r.name === s.name)).map((s) => failed(s, cause)));
  }
}
