import type { PingSign } from '#contracts/wire/life-signs.js';

/** ms for the program to start, and to end, on a busy machine: one that took longer has asked nobody. */
const START = 2_000;
/** At once; who finds no room is asked in a later round. */
const MOST_PINGS = 32;

/** How it ended; `code` is absent where it could not be started, or was ended. Its words are English. */
export type RunPing = (
  host: string,
  seconds: number,
  limit: number,
) => Promise<{ code?: number | undefined; said: string }>;

/** What the system's own program is given; it has the privilege, or the kernel gives one to everybody (net.ipv4.ping_group_range). */
export const pingArgs = (host: string, seconds: number): string[] => [
  '-n',
  '-q',
  '-c',
  '1',
  '-W',
  String(seconds),
  host,
];

/**
 * What the end of `ping` says of the host: 0 an echo came, 1 none did, 2 that it could not ask. Where its own
 * words name a route that lacks, or it was ended by a signal, it can at another time.
 */
export function pingMeans(code: number | undefined, said: string): PingSign {
  if (code === 0) return 'reply';
  if (code === 1) return 'silent';
  if (code === undefined && said === '') return 'not-tried';
  return /unreachable|no route|invalid argument|no buffer/i.test(said) ? 'not-tried' : 'cannot';
}

/** Asks hosts for an echo of ICMP, a few at once. */
export class Pings {
  private running = 0;

  constructor(private readonly run: RunPing) {}

  /** @param limit ms that the echo may take; whole seconds, at least one */
  sign(host: string, limit: number): Promise<PingSign> {
    if (this.running >= MOST_PINGS) return Promise.resolve('not-tried');
    this.running++;
    const seconds = Math.max(1, Math.ceil(limit / 1000));
    return this.run(host, seconds, seconds * 1000 + START)
      .then(({ code, said }) => pingMeans(code, said))
      .finally(() => this.running--);
  }
}
