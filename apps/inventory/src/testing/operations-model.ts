import { isIP } from 'node:net';
import type { ErrorCode, NodeRecord, OperationRequest, Reservations } from '#contracts';

/**
 * The operations contract once more, in its own words: what a request must be answered while nothing else happens.
 * Written apart from the admission, which it judges.
 */
export function expectedRefusal(
  r: OperationRequest,
  nodes: ReadonlyMap<string, NodeRecord>,
  held: Reservations['held'],
): ErrorCode | undefined {
  if (r.kind === 'discover') return expectedOfDiscover(r.addresses ?? [], nodes, held);
  const wanted = (r.nodes ?? []).map((n) => nodes.get(n) ?? behind(n, nodes));
  if (wanted.length === 0) return 'BAD_REQUEST';
  const own = wanted.filter((n) => n !== undefined);
  if (own.length < wanted.length) return 'NODE_UNKNOWN';
  if (own.some((n) => n.state !== 'Discovered')) return 'NOT_DISCOVERED';
  const group = r.hostGroup;
  if (group === undefined ? r.kind === 'commission' : !isMaster(group) && !isWorker(group)) return 'HOST_GROUP_INVALID';
  if (leavesWorkersAlone(r, own, nodes)) return 'ROLE_RULE';
  if (own.some((n) => held[n.name] !== undefined)) return 'NODE_RESERVED';
  const from = startsFrom[r.kind];
  return own.every((n) => from.includes(n.status)) ? undefined : 'ILLEGAL_TRANSITION';
}

/** Statuses from which an operation may begin. */
export const startsFrom: Record<OperationRequest['kind'], readonly NodeRecord['status'][]> = {
  commission: ['Unallocated', 'Decommissioned'],
  decommission: ['Allocated'],
  maintenance: ['Allocated'],
  check: ['Allocated'],
  resetup: ['Allocated'],
  discover: [],
};

const isMaster = (group: string | undefined): boolean => group === 'service-master';
const isWorker = (group: string | undefined): boolean => group === 'service-worker';

/** Only while nothing is transient. */
function leavesWorkersAlone(r: OperationRequest, own: NodeRecord[], nodes: ReadonlyMap<string, NodeRecord>): boolean {
  const others = [...nodes.values()].filter((n) => !own.includes(n) && n.status === 'Allocated');
  if (others.some((n) => isMaster(n.hostGroup) && n.state === 'Discovered')) return false;
  if (r.kind === 'commission' || r.kind === 'maintenance') return isWorker(r.hostGroup);
  const takesMaster = own.some((n) => isMaster(n.hostGroup) && n.status === 'Allocated');
  return r.kind === 'decommission' && takesMaster && others.some((n) => isWorker(n.hostGroup));
}

function expectedOfDiscover(
  addresses: string[],
  nodes: ReadonlyMap<string, NodeRecord>,
  held: Reservations['held'],
): ErrorCode | undefined {
  if (addresses.length === 0 || addresses.some((a) => isIP(a) === 0)) return 'BAD_REQUEST';
  const known = addresses.map((a) => behind(a, nodes)).filter((n) => n !== undefined);
  if (known.some((n) => n.state !== 'Disappeared')) return 'ALREADY_EXISTS';
  return known.some((n) => held[n.name] !== undefined) ? 'NODE_RESERVED' : undefined;
}

const behind = (address: string, nodes: ReadonlyMap<string, NodeRecord>): NodeRecord | undefined =>
  [...nodes.values()].find((n) => n.networks['management']?.address === address);
