import type { DatagramRefusal } from '#contracts/wire/datagram.js';

/** Why a datagram was ignored: it failed to decode, or it was not for us, not awaited, of the wrong network, or of a stranger. */
export type DropReason =
  DatagramRefusal | 'not-for-us' | 'own' | 'late-or-duplicate' | 'network' | 'stranger' | 'crowd';

/** What came in and what was ignored, by reason, since the start. */
export class DropCounters {
  readonly dropped: Partial<Record<DropReason, number>> = {};
  received = 0;

  drop(reason: DropReason): void {
    this.dropped[reason] = (this.dropped[reason] ?? 0) + 1;
  }
}
