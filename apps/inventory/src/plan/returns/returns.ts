import { isDeepStrictEqual } from 'node:util';
import { isSettledJob, type IncidentRecord, type JobRecord, type NodeRecord } from '#contracts';
import {
  isUnseenReturn,
  returnRow,
  returnStep,
  type ReturnRowName,
  type ReturnStep,
  type ReturnView,
  type WorkThere,
} from '#domain/return/return-table.js';
import { unanswered } from '#domain/return/return.js';
import type { About } from '../../conductor/task.js';
import type { Ages } from '../../snapshot/ages.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { aboutJob, aboutNode, allIntents, eachMade, eachRecord, type Decided } from '../each-record.js';
import type { ChangeNode, Intent, SubmitJobs, WantedJob } from '../intent.js';
import { failedTries } from './return-retries.js';
import { workThere } from './work-there.js';
import { heldIn } from '../out-of-service.js';

/** Returns that are dealt with at once: a rack that comes back must not stop everything else. */
export const RETURNS_AT_ONCE = 4;
/** Its jobs, as their records name it. */
const RETURN = 'return';
/** After a job that was refused, ms: somebody was faster, or no worker is alive, of which the driver alarm tells. */
const REFUSED_MS = 1_000;

/**
 * Of a node and its return. `empty`: its reports name nothing, in this boot. `unknown`: it is to be set up again, and it
 * cannot be said whether anything runs there. `tried`: so many of its checks could not be carried out.
 */
type ReturnCondition = `${string}/${number}/${`empty/${string}` | 'unknown' | `tried/${string}`}`;

/** One that is back and not yet in service. */
export interface ReturnNow {
  node: NodeRecord;
  /** The row of the table that decides about it; undefined: none does yet. */
  row: ReturnRowName | undefined;
  /** Until its next check is tried, ms. */
  waitMs: number;
  /** Why its power is to be left alone. */
  quarantine: string | undefined;
  quarantineLeftMs: number;
}

/**
 * Drives every pending return to its end: a check, after it the re-setup where the check found something. What it
 * starts is an ordinary job, so that the same rules and the same audit hold.
 */
export const returns: Concern<ReturnCondition> = {
  // Each round anew, since its gate was shut by this return: what was not seen in between is as young as can be.
  conditions: (fleet, ages) => {
    const { made, failed } = eachMade(due(fleet), aboutIt, (n) => [conditionsOf(n, fleet, ages)]);
    return { holds: made.flatMap((c) => c.holds), unknown: made.flatMap((c) => c.unknown), failed };
  },
  plan: (fleet, ages) => {
    const { made: steps, failed } = eachMade(due(fleet), aboutIt, (n) => [
      { n, step: returnStep(n, returnView(n, fleet, ages)) },
    ]);
    const begun = running(fleet);
    const wanted = steps.flatMap(({ n, step }): WantedJob[] =>
      step.do === 'check' || step.do === 'resetup' ? [jobFor(n, step.do, ages)] : [],
    );
    return [
      ...failed,
      ...begun.failed,
      ...allIntents(unseen(fleet)),
      ...steps.flatMap(({ n, step }): Intent[] => (isWritten(step) ? [write(n, step, ages)] : [])),
      ...submit(wanted, RETURNS_AT_ONCE - begun.made.length),
    ];
  },
};

export const returnsNow = (fleet: Fleet, ages: Ages<ReturnCondition>): readonly ReturnNow[] =>
  eachMade(due(fleet), aboutIt, (node): ReturnNow[] => {
    const incident = incidentOf(node, fleet);
    const view = returnView(node, fleet, ages);
    return [
      {
        ...{ node, row: returnRow(node, view), waitMs: view.waitMs },
        quarantine: incident && fleet.quarantine.reasonOf(incident),
        quarantineLeftMs: incident === undefined ? 0 : fleet.quarantine.leftMs(incident),
      },
    ];
  }).made;

/** What stands in the node's record; the others are a job, or nothing. */
type WrittenStep = Extract<ReturnStep, { do: 'hold' | 'lift' }>;

const isWritten = (step: ReturnStep): step is WrittenStep => step.do === 'hold' || step.do === 'lift';

const aboutIt = ({ name: node }: NodeRecord): About => ({ node });

/** The longest that is back first. */
const due = perFleet(({ nodes }: Fleet): Decided<NodeRecord> => {
  const { made, failed } = eachRecord(nodes.list, aboutNode, ({ value: n }) =>
    n.pendingReturn === undefined ? [] : [{ n, at: n.pendingReturn.at }],
  );
  return { made: made.toSorted((a, b) => a.at - b.at).map(({ n }) => n), failed };
});

const unseen = (fleet: Fleet): Decided<ChangeNode> =>
  eachRecord(fleet.nodes.list, aboutNode, ({ value: n }) => (isUnseen(n, fleet) ? [begin(n)] : []));

const isUnseen = (n: NodeRecord, fleet: Fleet): boolean =>
  isUnseenReturn(n, { incident: incidentOf(n, fleet)?.phase, reserved: isTaken(n, fleet) });

function conditionsOf(
  n: NodeRecord,
  fleet: Fleet,
  ages: Ages<ReturnCondition>,
): { holds: ReturnCondition[]; unknown: ReturnCondition[] } {
  const report = fleet.reports.get(n.name);
  return {
    holds: [
      ...(report?.workloads?.length === 0 ? [emptyOf(n, report.bootId)] : []),
      ...(isSetUpBlindly(n, fleet, ages) ? [unknownOf(n)] : []),
      ...(failedTries(n.pendingReturn).tries > 0 ? [triedOf(n)] : []),
    ],
    // Silence, and what is said of another boot, is no word about this one.
    unknown: report?.bootId === n.bootId ? [] : [emptyOf(n, n.bootId)],
  };
}

const of = (n: NodeRecord): `${string}/${number}` => `${n.name}/${n.pendingReturn?.at ?? 0}`;
const emptyOf = (n: NodeRecord, boot: string | undefined): ReturnCondition => `${of(n)}/empty/${boot ?? ''}`;
const unknownOf = (n: NodeRecord): ReturnCondition => `${of(n)}/unknown`;
const triedOf = (n: NodeRecord): ReturnCondition => {
  const { failedTries: failed = 0, unreached } = n.pendingReturn ?? {};
  return `${of(n)}/tried/${failed}/${unreached?.tries ?? 0}`;
};

const returnView = (n: NodeRecord, fleet: Fleet, ages: Ages<ReturnCondition>): ReturnView => {
  const incident = incidentOf(n, fleet);
  return {
    incident: incident?.phase,
    reserved: isTaken(n, fleet),
    quarantined: incident !== undefined && fleet.quarantine.reasonOf(incident) !== undefined,
    returns: fleet.returns(n.name),
    flaps: fleet.settings.fencing.storm.flaps,
    waitMs: Math.max(triedAgainInMs(n, ages), REFUSED_MS - (fleet.refusedFor(RETURN, n.name) ?? Infinity)),
    work: () => workOn(n, fleet, ages),
    unknownMs: ages.of(unknownOf(n)),
  };
};

const incidentOf = (n: NodeRecord, { incidents }: Fleet): IncidentRecord | undefined => incidents.get(n.name)?.value;

/** By a job or an edit. A claimed node is checked and set up like any other: its scheduler waits for that. */
function isTaken(n: NodeRecord, fleet: Fleet): boolean {
  const hold = heldIn(fleet)[n.name];
  return hold?.job !== undefined || hold?.edit !== undefined;
}

function triedAgainInMs(n: NodeRecord, ages: Ages<ReturnCondition>): number {
  const { tries, waitMs } = failedTries(n.pendingReturn);
  return tries === 0 ? 0 : waitMs - ages.of(triedOf(n));
}

function workOn(n: NodeRecord, fleet: Fleet, ages: Ages<ReturnCondition>): WorkThere {
  const report = fleet.reports.get(n.name);
  return workThere({
    ...{ node: n, report, assigned: assignedTo(fleet, n.name) },
    emptyForMs: ages.of(emptyOf(n, report?.bootId)),
    freshness: fleet.settings.detection.freshness,
  });
}

const isSetUpBlindly = (n: NodeRecord, fleet: Fleet, ages: Ages<ReturnCondition>): boolean =>
  n.pendingReturn?.next === 'resetup' && workOn(n, fleet, ages).kind === 'unknown';

/** Its jobs that have not ended; one of which that cannot be said keeps no other waiting. */
const running = ({ jobs }: Fleet): Decided<JobRecord> =>
  eachRecord(jobs.list, aboutJob, ({ value: job }) => (job.cause === RETURN && !isSettledJob(job) ? [job] : []));

const begin = ({ name }: NodeRecord): ChangeNode => ({
  ...{ do: 'change-node', key: name, about: { node: name } },
  reason: 'It was taken out of service, is back, and nobody waits for its return.',
  decide: (now, { fleet }) =>
    isUnseen(now, fleet) ? { ...now, pendingReturn: { reason: 'disappeared', at: fleet.wallMs } } : undefined,
});

const write = (n: NodeRecord, step: WrittenStep, ages: Ages<ReturnCondition>): ChangeNode => ({
  ...{ do: 'change-node', key: n.name, about: { node: n.name } },
  reason: step.do === 'hold' ? step.why : 'Nothing runs there any more.',
  decide: (now, { fleet }) => {
    const p = now.pendingReturn;
    // Another return than the one that was decided on has a plan of its own.
    if (!p || p.at !== n.pendingReturn?.at) return undefined;
    const anew = returnStep(now, returnView(now, fleet, ages));
    if (anew.do !== step.do || !isWritten(anew)) return undefined;
    if (anew.do === 'lift') return { ...now, pendingReturn: unanswered(p) };
    const heldBy = anew.by === undefined ? {} : { heldBy: anew.by };
    return { ...now, pendingReturn: { ...unanswered(p), held: anew.why, ...heldBy } };
  },
});

const submit = (wanted: readonly WantedJob[], most: number): SubmitJobs[] =>
  wanted.length === 0 || most <= 0
    ? []
    : [{ do: 'submit-jobs', most, wanted, about: {}, reason: 'Nodes that are back are checked before they serve.' }];

function jobFor(n: NodeRecord, kind: 'check' | 'resetup', ages: Ages<ReturnCondition>): WantedJob {
  const services = kind === 'resetup' ? n.pendingReturn?.only : undefined;
  return {
    ...{ node: n.name, kind, cause: RETURN, services },
    // What another check has found since may take the whole way.
    needs: (now, { fleet }) =>
      returnStep(now, returnView(now, fleet, ages)).do === kind &&
      (kind === 'check' || isDeepStrictEqual(now.pendingReturn?.only, services)),
    // The view may be behind what the admission has read: what it does not show is not known to be absent.
    isAbsent: (workload, { fleet }) =>
      fleet.workloads.get(workload)?.value.assignment?.node === n.name && workOn(n, fleet, ages).kind === 'none',
  };
}
