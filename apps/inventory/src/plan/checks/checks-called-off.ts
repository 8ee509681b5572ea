import { isEndedJob, type JobRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import { eachMade, type Decided } from '../each-record.js';
import type { CancelJob } from '../intent.js';
import { reasonsIn } from '../service.js';
import { servesOn } from './periodic-check.js';
import { calmIn, ownChecks } from './periodic-checks.js';

/** A node that is to be fenced, or is away, must not be held by a look at it; and recovery goes first. */
export const checksCalledOff: Concern = {
  plan: (fleet) => {
    const { made, failed } = checksToCallOff(fleet);
    return [...failed, ...calmIn(fleet).failed, ...made.map(calledOff)];
  },
};

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
