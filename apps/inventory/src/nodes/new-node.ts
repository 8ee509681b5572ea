import { nodeName, type NodeCreateRequest, type NodeRecord } from '#contracts';
import { stateBeginnings } from '#domain/node/state.js';

/** A node that nobody has heard yet. Power devices come without their passwords. */
export function newNode(r: Omit<NodeCreateRequest, 'powerLevels'>, at: number): NodeRecord {
  const node: NodeRecord = {
    name: nodeName(r.label, r.serial),
    label: r.label,
    serial: r.serial,
    failureDomain: r.failureDomain ?? 'default',
    networks: Object.fromEntries(Object.entries(r.networks).map(([name, { address }]) => [name, { address }])),
    powerLevels: [],
    provisionDriver: r.provisionDriver ?? 'ansible',
    vars: withoutNulls(r.vars ?? {}),
    fencing: r.fencing ?? 'auto',
    enrolled: r.enrolled ?? true,
    status: 'Unallocated',
    prevStatus: 'Incomplete',
    state: stateBeginnings.registered,
    prevState: 'Unknown',
    createdAt: at,
  };
  if (r.hostGroup !== undefined) node.hostGroup = r.hostGroup;
  return node;
}

/** A variable that is null is none: an edit would take it away. */
export const withoutNulls = (vars: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(vars).filter(([, value]) => value !== null));
