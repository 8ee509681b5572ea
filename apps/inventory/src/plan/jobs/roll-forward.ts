import { RESERVATIONS_KEY, type JobRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import type { CompleteJob } from '../intent.js';

/** A job that is pending for longer than its own replica needs for it is helped, ms. */
export const HELP_MS = 500;

/**
 * Completes what was accepted and left half done: its replica died, or lost the bus, between the reservation and the
 * job's record. A job that its own replica is carrying out at this moment may be helped too: every step is idempotent.
 */
export const rollForward: Concern<string> = {
  // That a job is pending, by its id.
  conditions: (fleet) => ({ holds: Object.keys(pending(fleet)) }),
  plan: (fleet, ages) =>
    // Nothing of a job is looked at here: what is odd in one fails when that one is carried out.
    Object.entries(pending(fleet))
      .filter(([id]) => ages.of(id) >= HELP_MS)
      .map(([id, job]) => complete(id, job)),
};

const pending = ({ reservations }: Fleet): Readonly<Record<string, JobRecord>> =>
  reservations.get(RESERVATIONS_KEY)?.value.pending ?? {};

const complete = (id: string, job: JobRecord): CompleteJob => ({
  ...{ do: 'complete-job', job, about: { job: id } },
  reason: 'It was accepted, and is not all written.',
});
