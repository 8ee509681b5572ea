import { isSettledJob, PERIODIC, PERMITS_KEY, type IncidentPhase, type JobRecord, type NodeRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import type { WantedJob } from '../intent.js';
import { heldIn, reasonsIn } from '../service.js';
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
    const wanted = checksNow(fleet).map(checkOf);
    if (wanted.length === 0) return [];
    return [{ do: 'submit-jobs', wanted, most: wanted.length, about: {}, reason: CHECK_DUE }];
  },
};

/** The nodes whose check begins now. */
export function checksNow(fleet: Fleet): string[] {
  const { every } = fleet.settings.check;
  if (every === 0 || !isCalmIn(fleet)) return [];
  const jobs = ownChecks(fleet);
  return checksToBegin(watched(fleet), {
    every,
    now: fleet.wallMs,
    running: jobs.filter((j) => !isSettledJob(j)).length,
    begun: newest(jobs.map((j) => j.createdAt).filter((at) => at <= fleet.wallMs)),
  });
}

/** Jobs of this kind, whatever became of them. */
export const ownChecks = perFleet(({ jobs }: Fleet): JobRecord[] =>
  jobs.list.flatMap((e) => (e.value.cause === PERIODIC ? [e.value] : [])),
);

/** No node is unhealthy, as far as anybody sees. */
export const isCalmIn = perFleet(({ permits, incidents, nodes, live, detector }: Fleet) =>
  isCalm({
    storm: (permits.get(PERMITS_KEY)?.value.trips ?? []).length > 0,
    incident: incidents.list.some((e) => underWay.includes(e.value.phase)),
    withoutQuorum: !live || (!detector.sighted && nodes.list.some((e) => e.value.enrolled)),
  }),
);

function watched(fleet: Fleet): WatchedNode[] {
  const held = heldIn(fleet);
  const reasons = reasonsIn(fleet);
  return fleet.nodes.list.flatMap(({ value: n }) => {
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
  needs: (now, { fleet }) => isCalmIn(fleet) && mayBeChecked(now, reasonsIn(fleet)(now)),
});
