import type { JobRecord, Reservations } from '#contracts';
import { jobOfLostRecord, type JobOrder } from '#domain/job/changes.js';
import type { AdmissionRequest } from './admission.js';
import { describeJob } from './job-description.js';

/** A job that holds nodes and of which nothing else is left: its record was lost with the store, or deleted. */
export interface OrphanHold {
  job: string;
  kind: AdmissionRequest['kind'];
  nodes: string[];
  hostGroup?: string;
  at: number;
}

/** @param isKnown is there a record of the job, be it one that cannot be read */
export function orphanHolds(r: Reservations, isKnown: (job: string) => boolean): OrphanHold[] {
  const orphans = new Map<string, OrphanHold>();
  for (const [node, h] of Object.entries(r.held)) {
    // Its record is yet to be written, and whoever sees that writes it.
    const { job, hostGroup, at } = h;
    if (job === undefined || r.pending[job] !== undefined || isKnown(job)) continue;
    // Recoveries hold nothing. One of an unknown kind is freed as a check, which changes nothing else.
    const kind = h.kind === undefined || h.kind === 'recover' ? 'check' : h.kind;
    const orphan = orphans.get(job) ?? { job, kind, nodes: [], at, ...(hostGroup !== undefined && { hostGroup }) };
    orphan.nodes.push(node);
    orphans.set(job, orphan);
  }
  return [...orphans.values()];
}

const LOST =
  'The record of this job was lost, and with it how far it had come: look at the node, and ask for it again.';

/**
 * The record that takes the place of the lost one: failed, as one that was begun, for nobody knows that it was not. What
 * follows from a failure follows from it, and frees the nodes.
 * @param now wall clock, for the record
 */
export function lostJob(o: OrphanHold, conductor: number, now: number): JobRecord {
  const { kind, hostGroup, at } = o;
  const group = hostGroup === undefined ? {} : { hostGroup };
  // Those that a discover holds are the ones behind its addresses.
  const nodes = kind === 'discover' ? [] : o.nodes;
  const order: JobOrder = {
    id: o.job,
    kind,
    nodes,
    desc: describeJob({ kind, nodes, addresses: [], ...group }, nodes, {}),
    ...group,
    extraVars: {},
    task: kind,
    createdAt: at,
    by: 'muster',
    conductor,
  };
  return jobOfLostRecord(order, LOST, now);
}
