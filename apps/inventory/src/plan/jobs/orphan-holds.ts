import { RESERVATIONS_KEY } from '#contracts';
import { lostJob, orphanHolds, type OrphanHold } from '../../operations/orphan-holds.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import type { Intent } from '../intent.js';

/**
 * For so long nothing is to be seen of the job, nor of anybody who renews its lease, ms. A lease of a cluster runs out
 * after 17.5 s, and its worker's guard has ended everything before that.
 */
export const ORPHANED_MS = 30_000;

const leaseOf = (job: string): string => `job.${job}`;
const orphansOf = perFleet(({ jobs, reservations }): OrphanHold[] => {
  const held = reservations.get(RESERVATIONS_KEY)?.value;
  return held === undefined ? [] : orphanHolds(held, (job) => jobs.has(job));
});
/** Moves on with each renewal: a worker that has not noticed may still be at work. */
const keyOf = (job: string, { answers }: Fleet): OrphanCondition => `${job}/${answers.leases.get(leaseOf(job)) ?? 0}`;

/** Job, and the revision of its lease. */
type OrphanCondition = `${string}/${number}`;

/** Ends jobs of which only the hold on their nodes is left: nobody else would ever free them. */
export const orphanHoldsEnd: Concern<OrphanCondition> = {
  isKnown: ({ jobs, reservations }) => jobs.live && reservations.live,
  asks: (fleet) => {
    const orphans = orphansOf(fleet);
    return orphans.length === 0 ? undefined : { leases: orphans.map((o) => leaseOf(o.job)) };
  },
  conditions: (fleet) => ({ holds: orphansOf(fleet).map((o) => keyOf(o.job, fleet)) }),
  plan: (fleet, ages) =>
    orphansOf(fleet)
      .filter((o) => ages.of(keyOf(o.job, fleet)) >= ORPHANED_MS)
      .map((o): Intent => ({
        do: 'create-job',
        key: o.job,
        about: { job: o.job },
        reason: 'Its record was lost, and nobody is at work on it.',
        reads: { reservations: true, jobs: [o.job], leases: [leaseOf(o.job)] },
        decide: (at) => {
          const still = orphansOf(at.fleet).find((x) => x.job === o.job);
          if (still === undefined || keyOf(o.job, at.fleet) !== keyOf(o.job, fleet)) return undefined;
          return lostJob(still, at.token, at.fleet.wallMs);
        },
        log: {
          level: 'error',
          facts: { job: o.job, nodes: o.nodes },
          message: 'a job whose record was lost is ended as failed',
        },
      })),
};
