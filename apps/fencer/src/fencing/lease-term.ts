import type { Lease } from '#bus';
import { MusterError, type Clock } from '#contracts';
import type { PowerDeadline } from '../drivers/power-driver.js';
import type { Author } from './incident-log.js';

export interface LeaseTermParts {
  lease: Lease;
  /** Token of the term. */
  token: number;
  /** Who acts in it. */
  fencer: string;
  clock: Clock;
}

/**
 * The right to act in one term of the fencing lease. A later term, also of the same process, has another token: what was
 * begun in this one is over then.
 */
export class LeaseTerm {
  constructor(private readonly parts: LeaseTermParts) {}

  /**
   * Its token, where it still holds.
   * @throws LEASE_LOST
   */
  check(): number {
    const token = this.parts.lease.check();
    if (token !== this.parts.token) throw new MusterError('LEASE_LOST', 'this term of the fencing lease is over');
    return token;
  }

  /**
   * Who writes now, in this term.
   * @param at wall clock, ms. @default now
   * @throws LEASE_LOST
   */
  author(at = this.parts.clock.wallMs()): Author {
    return { token: this.check(), fencer: this.parts.fencer, at };
  }

  /**
   * For a command that may run for so long from now on: never later than this term's lease, which may be renewed while
   * the command runs.
   * @param limitMs ms
   */
  deadline(limitMs: number): PowerDeadline {
    const limitNs = this.parts.clock.monotonicNs() + BigInt(Math.round(limitMs * 1e6));
    return {
      atNs: () => {
        const { lease, token } = this.parts;
        const until = lease.held && lease.token === token ? lease.validUntil : 0n;
        return until < limitNs ? until : limitNs;
      },
    };
  }
}
