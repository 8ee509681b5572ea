import {
  MusterError,
  type JobKind,
  type JobRecord,
  type NodeRecord,
  type NodeState,
  type NodeStatus,
} from '#contracts';
import { neverBegan } from '#domain/job/changes.js';
import { statusChanges } from '#domain/node/status.js';

/** Status that a job of this kind puts its nodes into while it lives; undefined: it leaves the status alone. */
export const statusDuring = (kind: JobKind): NodeStatus | undefined =>
  statusChanges.find((c) => c.by === kind && c.when === 'begins')?.to;

/**
 * Why a job of this kind cannot start on the node as it is; undefined: it can. The sentence about a transition is
 * word for word that of the operations contract.
 */
export function refusedStart(node: NodeRecord, kind: JobKind): MusterError | undefined {
  const to = statusDuring(kind);
  if (to !== undefined) return mayBegin(node.status, kind) ? undefined : illegal(node, to);
  if (kind === 'service-test' && node.status !== 'Unallocated' && node.status !== 'Decommissioned')
    return new MusterError(
      'ILLEGAL_TRANSITION',
      `a service is tested on a node on which nothing is set up: ${node.name} is ${node.status}; take it out first: muster nodes decommission ${node.name} --wait`,
      { node: node.name, status: node.status, kind },
    );
  if ((kind === 'check' || kind === 'resetup') && node.status !== 'Allocated')
    return new MusterError(
      'ILLEGAL_TRANSITION',
      `${kind} needs an Allocated node: ${node.name} is ${node.status}, commission it first`,
      { node: node.name, status: node.status, kind },
    );
  return undefined;
}

const mayBegin = (status: NodeStatus, kind: JobKind): boolean =>
  statusChanges.some((c) => c.from === status && c.by === kind && c.when === 'begins');

const illegal = (node: NodeRecord, to: NodeStatus): MusterError =>
  new MusterError(
    'ILLEGAL_TRANSITION',
    `failed to update ${node.name}'s state in inventory, Error: transition from "${node.status}" to "${to}" is not allowed`,
    { node: node.name, from: node.status, to },
  );

/**
 * Status after the job has ended; undefined: it stays. All nodes of a request share its outcome: a commission that
 * failed on one has run the cleanup on all. A job that was cancelled before any worker began has done nothing to its
 * nodes, so they go back to where they were.
 */
export function statusAfter(
  node: NodeRecord,
  job: Pick<JobRecord, 'kind' | 'status' | 'startedAt'>,
): NodeStatus | undefined {
  if (node.status !== statusDuring(job.kind)) return undefined;
  const when = job.status === 'Complete' ? 'succeeds' : neverBegan(job) ? 'unbegun' : 'fails';
  const changes = statusChanges.filter((c) => c.from === node.status && c.by === job.kind && c.when === when);
  return (changes.find((c) => c.to === node.prevStatus) ?? changes[0])?.to;
}

/** Both `prev` fields follow each change of either axis, as clients of the operations contract know it. */
export const withStatus = (node: NodeRecord, status: NodeStatus): NodeRecord => ({
  ...node,
  prevStatus: node.status,
  prevState: node.state,
  status,
});

export const withState = (node: NodeRecord, state: NodeState): NodeRecord => ({
  ...node,
  prevStatus: node.status,
  prevState: node.state,
  state,
});

/**
 * The node as the job needs it while it runs; undefined: it is that already, or the job's results have been rolled in
 * before (a late helper must not start the story again).
 */
export function moveForJob(
  node: NodeRecord,
  job: Pick<JobRecord, 'id' | 'kind' | 'hostGroup' | 'cause'>,
): NodeRecord | undefined {
  if (node.lastJob === job.id) return undefined;
  let moved = node;
  const during = statusDuring(job.kind);
  if (during !== undefined && node.status !== during) {
    const refused = refusedStart(node, job.kind);
    if (refused) throw refused;
    moved = withStatus(moved, during);
  }
  if (during !== undefined && job.hostGroup !== undefined && moved.hostGroup !== job.hostGroup)
    moved = { ...moved, hostGroup: job.hostGroup, hostGroupWas: moved.hostGroup ?? '' };
  if (job.cause === 'return' && moved.pendingReturn && moved.pendingReturn.job !== job.id)
    moved = { ...moved, pendingReturn: { ...moved.pendingReturn, job: job.id } };
  return moved === node ? undefined : moved;
}
