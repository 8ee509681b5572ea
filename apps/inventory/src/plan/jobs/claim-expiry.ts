import { RESERVATIONS_KEY, type ClaimRecord } from '#contracts';
import { hasExpired, isAbandoned } from '#domain/claim/claim-holds.js';
import type { About } from '../../conductor/task.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import { eachRecord, intentsOfEach } from '../each-record.js';
import type { ExpireClaim } from '../intent.js';

/** A claim that is not confirmed yet. */
type PendingCondition = `pending/${string}`;
const pending = (id: string): PendingCondition => `pending/${id}`;

const claims = ({ reservations }: Fleet): [id: string, claim: ClaimRecord][] =>
  Object.entries(reservations.get(RESERVATIONS_KEY)?.value.claims ?? {});
const aboutClaim = ([claim]: readonly [string, ...unknown[]]): About => ({ claim });

/**
 * Frees the nodes of a claim at the time of day that came of its `ttl`, and those of one whose taker died before it was
 * confirmed.
 */
export const claimExpiry: Concern<PendingCondition> = {
  conditions: (fleet) => {
    const { made: holds, failed } = eachRecord(claims(fleet), aboutClaim, ([id, c]) =>
      c.pending === true ? [pending(id)] : [],
    );
    return { holds, failed };
  },
  plan: (fleet, ages) =>
    intentsOfEach(claims(fleet), aboutClaim, ([id, claim]): ExpireClaim[] => {
      const isOver = (now: ClaimRecord): boolean =>
        hasExpired(now, fleet.wallMs) || isAbandoned(now, ages.of(pending(id)));
      if (!isOver(claim)) return [];
      const reason = hasExpired(claim, fleet.wallMs) ? 'Its time has passed.' : 'Whoever took it never confirmed it.';
      return [{ do: 'expire-claim', key: id, about: { claim: id }, reason, decide: isOver }];
    }),
};
