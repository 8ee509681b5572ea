/**
 * Failures of a datagram or a connection that speak of the far side: the stack could not find it (on its own segment a
 * dead host answers no ARP), or it refuses, or it did not answer in time. Whatever was sent counts as sent.
 */
const OF_THE_TARGET: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
]);

/**
 * Whether a failed send says something of the target. Every other failure is our own fault (no route, no address, no
 * buffer, a firewall here): nothing left this host, and that is no word of anybody else, neither for nor against.
 */
export const isOfTheTarget = (e: unknown): boolean =>
  OF_THE_TARGET.has((e as NodeJS.ErrnoException | undefined)?.code ?? '');
