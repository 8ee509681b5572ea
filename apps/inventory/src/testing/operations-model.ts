import { isIP } from 'node:net';
import {
  managementAddress,
  type ErrorCode,
  type NodeRecord,
  type OperationRequest,
  type Reservations,
} from '#contracts';

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
  if (!own.every((n) => from.includes(n.status))) return 'ILLEGAL_TRANSITION';
  if (r.kind !== 'resetup' && r.kind !== 'maintenance') return undefined;
  return r.atOnce !== true && takesTooManyDown(r.kind, own, nodes, held) ? 'ROLE_RULE' : undefined;
}

/** Statuses from which an operation may begin. */
export const startsFrom: Record<OperationRequest['kind'], readonly NodeRecord['status'][]> = {
  commission: ['Unallocated', 'Decommissioned'],
  decommission: ['Allocated'],
  maintenance: ['Allocated'],
  check: ['Allocated'],
  resetup: ['Allocated'],
  discover: [],
  'service-test': ['Unallocated', 'Decommissioned'],
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

/**
 * Both clean up first: one master at a time and never the last that serves; re-setups, one of a role in a failure domain.
 */
function takesTooManyDown(
  kind: 'resetup' | 'maintenance',
  own: NodeRecord[],
  nodes: ReadonlyMap<string, NodeRecord>,
  held: Reservations['held'],
): boolean {
  const role = (n: NodeRecord): string =>
    isMaster(n.hostGroup) ? 'master' : isWorker(n.hostGroup) ? 'worker' : 'none';
  const others = [...nodes.values()].filter((n) => !own.includes(n));
  const heldFor = (n: NodeRecord, ...kinds: string[]): boolean => kinds.includes(held[n.name]?.kind ?? '');
  const down = others.filter((n) => heldFor(n, 'resetup', 'maintenance'));
  const near = (n: NodeRecord, o: NodeRecord): boolean =>
    role(n) === role(o) &&
    (role(n) === 'master' || (kind === 'resetup' && heldFor(o, 'resetup') && n.failureDomain === o.failureDomain));
  if (own.some((n) => down.some((o) => near(n, o)))) return true;
  const masters = own.filter((n) => role(n) === 'master').length;
  const used = others.filter((n) => n.status !== 'Unallocated' && n.status !== 'Decommissioned');
  const peers = used.filter((n) => role(n) === 'master');
  const left = peers.filter(
    (n) =>
      n.status === 'Allocated' &&
      n.state === 'Discovered' &&
      (held[n.name]?.kind === undefined || held[n.name]?.kind === 'check'),
  );
  if (masters > 1) return true;
  return masters === 1 && peers.length > 0 && left.length === 0 && used.some((n) => role(n) === 'worker');
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
  [...nodes.values()].find((n) => managementAddress(n) === address);
