import { isSettledJob, PERIODIC, PERMITS_KEY, type IncidentPhase, type JobRecord, type NodeRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { aboutJob, aboutNode, eachMade, eachRecord, type Decided } from '../each-record.js';
import type { WantedJob } from '../intent.js';
import { heldIn, reasonsIn } from '../out-of-service.js';
import { checksToBegin, isCalm, mayBeChecked, type WatchedNode } from './periodic-check.js';

/** A node whose check was refused lets others go first for so long, ms. */
const REFUSED_MS = 60_000;

/** Why one begins, for people. */
export const CHECK_DUE = 'A periodic check is due.';

const underWay: readonly IncidentPhase[] = ['open', 'investigating', 'fencing', 'fenced', 'recovering'];

/** Has each node in service checked once per `check.every`, by ordinary jobs that only look. */
export const periodicChecks: Concern = {
  // Nothing here is in a hurry, and the view of the jobs is to show what was begun last.
  pace: { everyMs: 1_000 },
  plan: (fleet) => {
    const { made, failed } = checksNow(fleet);
    const wanted = made.map(checkOf);
    if (wanted.length === 0) return [...failed];
    return [...failed, { do: 'submit-jobs', wanted, most: wanted.length, about: {}, reason: CHECK_DUE }];
  },
};

/** The nodes whose check begins now. */
export function checksNow(fleet: Fleet): Decided<string> {
  const { every } = fleet.settings.check;
  if (every === 0) return { made: [], failed: [] };
  const calm = calmIn(fleet);
  if (!calm.is) return { made: [], failed: calm.failed };
  const nodes = watched(fleet);
  const jobs = eachMade(
    ownChecks(fleet),
    ({ id: job }) => ({ job }),
    (j) => [{ at: j.createdAt, isSettled: isSettledJob(j) }],
  );
  const made = checksToBegin(nodes.made, {
    every,
    now: fleet.wallMs,
    running: jobs.made.filter((j) => !j.isSettled).length,
    begun: newest(jobs.made.map((j) => j.at).filter((at) => at <= fleet.wallMs)),
  });
  return { made, failed: [...nodes.failed, ...jobs.failed] };
}

/** Jobs of this kind, whatever became of them. */
export const ownChecks = perFleet(({ jobs }: Fleet): Decided<JobRecord> =>
  eachRecord(jobs.list, aboutJob, (e) => (e.value.cause === PERIODIC ? [e.value] : [])),
);

/** No node is unhealthy, as far as anybody sees. One of which that cannot be said is. */
export const calmIn = perFleet(({ permits, incidents, nodes, live, detector }: Fleet) => {
  const under = eachRecord(incidents.list, aboutNode, (e) => (underWay.includes(e.value.phase) ? [e.key] : []));
  const agents = eachRecord(nodes.list, aboutNode, (e) => (e.value.enrolled ? [e.key] : []));
  const failed = [...under.failed, ...agents.failed];
  const is = isCalm({
    storm: (permits.get(PERMITS_KEY)?.value.trips ?? []).length > 0,
    incident: under.made.length > 0 || under.failed.length > 0,
    withoutQuorum: !live || (!detector.sighted && agents.made.length + agents.failed.length > 0),
  });
  return { is, failed };
});

function watched(fleet: Fleet): Decided<WatchedNode> {
  const held = heldIn(fleet);
  const reasons = reasonsIn(fleet);
  return eachRecord(fleet.nodes.list, aboutNode, ({ value: n }): WatchedNode[] => {
    const isRefused = (fleet.refusedFor(PERIODIC, n.name) ?? Infinity) < REFUSED_MS;
    if (isRefused || !mayBeChecked(n, reasons(n), held[n.name])) return [];
    return [{ name: n.name, last: lastLooked(n), failed: n.lastCheck?.failed ?? 0 }];
  });
}

/** Whoever asked for it. What was just set up was looked at as it was. */
const lastLooked = (n: NodeRecord): number | undefined =>
  newest([n.lastCheck?.at, n.provisioned?.at].filter((at) => at !== undefined));

const newest = (times: readonly number[]): number | undefined =>
  times.reduce<number | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);

const checkOf = (node: string): WantedJob => ({
  ...{ node, kind: 'check', cause: PERIODIC, services: undefined },
  // Who holds it by then is the admission's affair.
  needs: (now, { fleet }) => calmIn(fleet).is && mayBeChecked(now, reasonsIn(fleet)(now)),
});
