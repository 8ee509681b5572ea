import { RESERVATIONS_KEY } from '#contracts';
import { hasExpired } from '#domain/claim/claim-holds.js';
import type { Concern } from '../concern.js';
import type { Intent } from '../intent.js';

/** Frees the nodes of a claim at the time of day that came of its `ttl`. */
export const claimExpiry: Concern = {
  plan: ({ reservations, wallMs }) =>
    Object.values(reservations.get(RESERVATIONS_KEY)?.value.claims ?? {})
      .filter((claim) => hasExpired(claim, wallMs))
      .map(({ id }): Intent => ({
        do: 'expire-claim',
        key: id,
        about: { claim: id },
        reason: 'Its time has passed.',
        decide: (now) => hasExpired(now, wallMs),
      })),
};
