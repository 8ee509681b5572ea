import { isEndedJob, RESERVATIONS_KEY, type JobRecord, type Reservations } from '#contracts';
import { releaseOne } from '../../operations/reservations.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import { eachMade, eachRecord, type Decided } from '../each-record.js';
import type { CancelJob, FreeNode } from '../intent.js';
import { heldIn, reasonsIn } from '../out-of-service.js';
import { servesOn } from './periodic-check.js';
import { calmIn, ownChecks } from './periodic-checks.js';

/** A node that is to be fenced, or is away, must not be held by a look at it; and recovery goes first. */
export const checksCalledOff: Concern = {
  plan: (fleet) => {
    const { made, failed } = checksToCallOff(fleet);
    const dead = deadInChecks(fleet);
    return [...failed, ...calmIn(fleet).failed, ...dead.failed, ...made.map(calledOff), ...dead.made.map(freed)];
  },
};

/** A node that is being fenced, and the check of whoever that holds it. */
interface DeadInCheck {
  node: string;
  job: string;
}

/**
 * Of a check of many nodes one that has died waits for none of the others: it is powered on again, and its return cannot
 * begin while the check holds it. Any other job is what the fencing waits for.
 */
const deadInChecks = (fleet: Fleet): Decided<DeadInCheck> =>
  eachRecord(
    fleet.incidents.list,
    ({ key: node }) => ({ node }),
    ({ key: node }) => {
      const job = checkOf(node, heldIn(fleet), fleet);
      return job === undefined ? [] : [{ node, job }];
    },
  );

/** The check that holds a node whose fencing has begun and is not over; undefined: there is none. */
function checkOf(node: string, held: Reservations['held'], { incidents }: Fleet): string | undefined {
  const phase = incidents.get(node)?.value.phase;
  const hold = held[node];
  const isFenced = phase === 'fencing' || phase === 'fenced' || phase === 'recovering';
  return isFenced && hold?.kind === 'check' ? hold.job : undefined;
}

const freed = ({ node, job }: DeadInCheck): FreeNode => ({
  ...{ do: 'free-node', key: RESERVATIONS_KEY, about: { node, job } },
  reason: 'It died while it was checked, and the check goes on without it.',
  reads: { incidents: [node] },
  decide: (now, { fleet }) => (checkOf(node, now.held, fleet) === job ? releaseOne(now, job, node) : undefined),
});

/** Periodic checks under way that are to end. */
export const checksToCallOff = (fleet: Fleet): Decided<JobRecord> =>
  eachMade(
    ownChecks(fleet),
    ({ id: job }) => ({ job }),
    (j) => (!isEndedJob(j) && j.cancel === undefined && !goesOn(j, fleet) ? [j] : []),
  );

function goesOn(job: JobRecord, fleet: Fleet): boolean {
  const node = fleet.nodes.get(job.nodes[0] ?? '')?.value;
  return calmIn(fleet).is && node !== undefined && servesOn(node, reasonsIn(fleet)(node));
}

/** Why one is called off, for people. */
export const whyCalledOff = ({ nodes }: Pick<JobRecord, 'nodes'>): string =>
  `A node is unhealthy, or ${nodes.join(', ')} does not serve any more: nothing is held by a look at it.`;

const calledOff = (job: JobRecord): CancelJob => ({
  ...{ do: 'cancel-job', key: job.id, about: { job: job.id } },
  reason: whyCalledOff(job),
  decide: (now, { fleet }) => !goesOn(now, fleet),
});
