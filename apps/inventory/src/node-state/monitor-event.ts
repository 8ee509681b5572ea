import { MANAGEMENT, nodeName, type MonitorNode, type NodeRecord } from '#contracts';
import { stateAfter, stateBeginnings } from '#domain/node/state.js';
import { newNode } from '../nodes/new-node.js';
import { withState } from '../nodes/node-status.js';

export type MonitorChange = 'discovered' | 'disappeared';

/**
 * What the word of an external monitor makes of a node; undefined: nothing. It sets the state of nodes without a Muster
 * agent, and makes unknown ones known. Of a node with an agent it is evidence that is shown: it never votes.
 */
export function applyMonitorEvent(
  n: NodeRecord | undefined,
  change: MonitorChange,
  m: MonitorNode,
  at: number,
): NodeRecord | undefined {
  if (n === undefined) {
    if (change === 'disappeared') return undefined;
    const fresh = newNode(
      { label: m.label, serial: m.serial, networks: { [MANAGEMENT]: { address: m.addr } }, enrolled: false },
      at,
    );
    return { ...fresh, state: stateBeginnings['monitor-discovered'] };
  }
  if (n.enrolled) {
    const same = n.external?.event === change && n.external.address === m.addr;
    return same ? undefined : { ...n, external: { event: change, address: m.addr, at } };
  }
  const state = stateAfter[`monitor-${change}`];
  let next = n;
  if (change === 'discovered' && n.networks[MANAGEMENT]?.address !== m.addr)
    next = { ...next, networks: { ...n.networks, [MANAGEMENT]: { address: m.addr } } };
  if (n.state !== state) next = withState(next, state);
  const back = n.state === 'Disappeared' && state === 'Discovered' && n.status === 'Allocated';
  if (back && !n.pendingReturn) next = { ...next, pendingReturn: { reason: 'disappeared', at } };
  return next === n ? undefined : next;
}

export const monitorNodeName = (m: MonitorNode): string => nodeName(m.label, m.serial);
