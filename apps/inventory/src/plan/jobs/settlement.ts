import { isEndedJob, managementAddress, RESERVATIONS_KEY, type JobRecord, type NodeRecord } from '#contracts';
import { applyMonitorEvent } from '../../node-state/monitor-event.js';
import type { CheckVerdict } from '#domain/return/check-verdict.js';
import { statusDuring } from '../../nodes/node-status.js';
import { verdictOf } from '../../nodes/accepted-drift.js';
import { heldBy, release } from '../../operations/reservations.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import { intentsOfEach } from '../each-record.js';
import type { EndedJob, NodeAfterJob, SettleJob } from '../intent.js';
import { heldIn } from '../out-of-service.js';
import { settle } from './settle.js';

/**
 * Ended jobs become node records. A crash at any moment leaves a job that is not settled: it is done again from the
 * start. A node that it holds no more, or that names it as `lastJob`, has followed: it is left alone.
 */
export const jobSettlement: Concern = {
  plan: ({ jobs }) =>
    intentsOfEach(
      jobs.list,
      ({ key: job }) => ({ job }),
      (e) => (isUnsettled(e.value) ? [settlement(e.key, e.value)] : []),
    ),
};

/** It has ended, and its nodes have not followed. */
export const isUnsettled = (job: JobRecord): boolean => isEndedJob(job) && !job.settled;

const settlement = (id: string, { kind }: JobRecord): SettleJob => ({
  ...{ do: 'settle-job', key: id, about: { job: id } },
  reason: 'It has ended, and its nodes have not followed.',
  // Starts and stops hold no node, and come by the thousand: the reservations are not asked about each.
  reads: { jobs: [id], ...(kind !== 'recover' && { reservations: true }) },
  decide: ({ fleet }) => {
    const job = fleet.jobs.get(id)?.value;
    return job !== undefined && isUnsettled(job) ? endOf(job, fleet) : undefined;
  },
});

function endOf(job: JobRecord, fleet: Fleet): EndedJob {
  return {
    job,
    node: (now) => afterJob(now, job, fleet),
    found: found(job, fleet),
    ...(mayHold(job, fleet) && { release: (now, nodesAt) => release(now, job.id, nodesAt) }),
    settled: (now, verdicts) => (now.settled ? undefined : settled(now, verdicts)),
    // A job with a worker was told by it; one that was cancelled while it waited has nobody else.
    publishesEnd: job.worker === undefined,
  };
}

function afterJob(now: NodeRecord, job: JobRecord, fleet: Fleet): NodeAfterJob {
  const { settings, wallMs: at } = fleet;
  const onReturn = settings.hostGroups.find((g) => g.name === now.hostGroup)?.onReturn ?? 'resetup';
  const { node, events } = settle(now, job, { onReturn, at });
  const result = job.kind === 'check' ? job.results[now.name] : undefined;
  const verdict = result && verdictOf(node, result, at);
  // What was told of it then would be told here of what a later job has left.
  if (isFreed(now, job, fleet))
    return { next: undefined, events: [], verdict: verdict && (now.lastJob === job.id ? verdict : NOT_COUNTED) };
  return { next: now.lastJob === job.id ? undefined : node, events, verdict };
}

const NOT_COUNTED: CheckVerdict = {
  outcome: 'unknown',
  why: 'It died before the check had ended, or another job came first: what was found does not count.',
};

/**
 * The job has freed the node, so the node has followed, or has died under a check. A later job may have been there since, and
 * may be settled first: a check that was passed before a re-setup failed would bring a half set up node back into service.
 * Where the hold was lost with the store, nobody else ends the status that the job gave the node.
 */
function isFreed(now: NodeRecord, job: JobRecord, fleet: Fleet): boolean {
  if (job.kind === 'recover') return false;
  const holder = heldIn(fleet)[now.name]?.job;
  return holder !== job.id && (holder !== undefined || now.status !== statusDuring(job.kind));
}

/** A node without an agent that had disappeared and answers at its address again: this is its way back. */
function found(job: JobRecord, { nodes, wallMs }: Fleet): EndedJob['found'] {
  if (job.kind !== 'discover') return [];
  const answered = (job.addresses ?? []).filter((a) => job.results[a]?.ok);
  return nodes.list.flatMap(({ key, value }) => {
    const { label, serial, enrolled } = value;
    const addr = managementAddress(value);
    if (enrolled || !answered.includes(addr)) return [];
    return [{ key, decide: (now) => applyMonitorEvent(now, 'discovered', { label, serial, addr }, wallMs) }];
  });
}

/** Starts and stops hold no node, and come by the thousand: the reservations are not asked about each. */
function mayHold(job: JobRecord, { reservations }: Fleet): boolean {
  const held = reservations.get(RESERVATIONS_KEY)?.value;
  return job.kind !== 'recover' || held === undefined || heldBy(held, job.id).length > 0;
}

/** Its nodes have followed; each check says what it has found. */
function settled(job: JobRecord, verdicts: ReadonlyMap<string, CheckVerdict>): JobRecord {
  const results = { ...job.results };
  for (const [node, { outcome, why }] of verdicts)
    if (results[node] !== undefined) results[node] = { ...results[node], verdict: { outcome, why } };
  return { ...job, results, settled: true };
}
