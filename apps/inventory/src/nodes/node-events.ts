import type { EventKind, EventMap, NodeRecord } from '#contracts';

export type NodeEvent = { [K in EventKind]: { kind: K; data: EventMap[K] } }[EventKind];

/** What a change of one record has to tell. `cause` is the reason given with a change of state. */
export function nodeEvents(before: NodeRecord | undefined, after: NodeRecord, cause: string): NodeEvent[] {
  const node = after.name;
  const events: NodeEvent[] = [];
  if (!before) events.push({ kind: 'node-created', data: { node } });
  if (before && before.status !== after.status) {
    const data: EventMap['node-status'] = { node, status: after.status, prev: before.status };
    if (after.lastJob !== undefined) data.job = after.lastJob;
    events.push({ kind: 'node-status', data });
  }
  if (before && before.state !== after.state)
    events.push({ kind: 'node-state', data: { node, state: after.state, prev: before.state, reason: cause } });
  if (before?.bootId !== undefined && after.bootId !== undefined && before.bootId !== after.bootId)
    events.push({ kind: 'rebooted', data: { node, bootId: after.bootId, prevBootId: before.bootId } });
  const wasDegraded = before?.verdict?.verdict === 'DEGRADED' ? before.verdict.networks.join() : undefined;
  if (after.verdict?.verdict === 'DEGRADED' && after.verdict.networks.join() !== wasDegraded)
    events.push({ kind: 'degraded', data: { node, networks: after.verdict.networks } });
  if (wasDegraded !== undefined && after.verdict?.verdict === 'UP')
    events.push({ kind: 'degraded-over', data: { node } });
  if (before && before.cordon?.drained === undefined && after.cordon?.drained !== undefined)
    events.push({ kind: 'drained', data: { node } });
  const reasons = newReasons(before, after);
  if (reasons.length > 0) events.push({ kind: 'out-of-service', data: { node, reasons } });
  return events;
}

/** What has just taken an Allocated node out of service, as far as its record says it. */
function newReasons(before: NodeRecord | undefined, after: NodeRecord): string[] {
  if (before?.status !== 'Allocated' || after.status !== 'Allocated') return [];
  const reasons: string[] = [];
  if (before.state === 'Discovered' && after.state !== 'Discovered') reasons.push(`STATE: its state is ${after.state}`);
  if (!before.cordon && after.cordon) reasons.push(`CORDONED: ${after.cordon.reason}`);
  if (!before.maintenance && after.maintenance) reasons.push(`MAINTENANCE: ${after.maintenance.reason}`);
  if (!before.pendingReturn && after.pendingReturn) reasons.push(`PENDING_RETURN: ${after.pendingReturn.reason}`);
  return reasons;
}
