/**
 * Which servers the next try of a connection asks: those that the control plane has named, and after each failure, by
 * turns, those of this host's own configuration. A list that is wrong then locks no agent out for good.
 * @param named absent: none were
 * @param failures tries in a row that have failed
 */
export const serversToTry = (
  configured: readonly string[],
  named: readonly string[] | undefined,
  failures: number,
): readonly string[] => (named === undefined || failures % 2 === 1 ? configured : named);

/** The order counts for nothing. */
export const sameServers = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join() === [...b].sort().join();
