import { RESERVATIONS_KEY } from '#contracts';
import { hasExpired } from '#domain/claim/claim-holds.js';
import type { Concern } from '../concern.js';
import { intentsOfEach } from '../each-record.js';
import type { ExpireClaim } from '../intent.js';

/** Frees the nodes of a claim at the time of day that came of its `ttl`. */
export const claimExpiry: Concern = {
  plan: ({ reservations, wallMs }) =>
    intentsOfEach(
      Object.entries(reservations.get(RESERVATIONS_KEY)?.value.claims ?? {}),
      ([claim]) => ({ claim }),
      ([id, claim]): ExpireClaim[] =>
        hasExpired(claim, wallMs)
          ? [
              {
                ...{ do: 'expire-claim', key: id, about: { claim: id } },
                reason: 'Its time has passed.',
                decide: (now) => hasExpired(now, wallMs),
              },
            ]
          : [],
    ),
};
