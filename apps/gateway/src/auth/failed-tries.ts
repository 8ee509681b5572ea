import { forgetOldest } from '#bus';
import { ipBytes, unmapped } from '#contracts/addresses/ip-address.js';

/** How tries that failed are counted, by where they came from. */
export const FailedTryNumbers = {
  /** So many at once are borne: somebody has copied the wrong token, and tries it on a rack of hosts. */
  burst: 20,
  /** One more is borne after each of these, ms. */
  every: 3_000,
  /** Nobody is refused for longer than this, ms: many share an address. */
  longest: 600_000,
  /** Addresses that are remembered: whoever owns more than that has the oldest forgotten. */
  sources: 10_000,
} as const;

/**
 * Who has failed too often is refused for a while, by the generic cell rate algorithm: one number for each source, the
 * moment at which its failures are worked off. Only failures count, so that a site that enrols a thousand hosts from one
 * address is never held up; and those count that came while others were being asked about.
 */
export class FailedTries {
  /** Source → ms on the caller's clock; the one that failed longest ago is first. */
  private readonly workedOff = new Map<string, number>();

  /** ms until this source may try again; 0: now. `now`: monotonic, ms. */
  waitMs(source: string, now: number): number {
    const { burst, every } = FailedTryNumbers;
    return Math.max(0, (this.workedOff.get(source) ?? 0) - now - (burst - 1) * every);
  }

  failed(source: string, now: number): void {
    const { burst, every, longest, sources } = FailedTryNumbers;
    const until = Math.max(now, this.workedOff.get(source) ?? 0) + every;
    this.workedOff.delete(source);
    this.workedOff.set(source, Math.min(until, now + longest + (burst - 1) * every));
    forgetOldest(this.workedOff, sources);
  }

  get remembered(): number {
    return this.workedOff.size;
  }
}

/**
 * Whoever has one address of IPv6 has the whole /64. Without an address it came by a unix socket.
 * @param peer counts instead where `address` is none: what a proxy was told may be anything
 */
export function sourceOf(address: string | undefined, peer?: string): string {
  const bytes = address === undefined ? undefined : addressBytes(address);
  if (bytes === undefined) return peer === undefined ? (address ?? 'unix') : sourceOf(peer);
  return bytes.length === 4 ? bytes.join('.') : Buffer.from(bytes.slice(0, 8)).toString('hex');
}

/** Of a socket's or a proxy's word: without the zone, and IPv4 as itself. Undefined: it is no address. */
export function addressBytes(text: string): number[] | undefined {
  const bytes = ipBytes(text.replace(/%.*$/, ''));
  return bytes && unmapped(bytes);
}
