import type { IncidentRecord, PowerCommand } from './incident.js';

/** An order to switch on, by the incident that it was given in. */
export type PendingOn = NonNullable<IncidentRecord['onBefore']>;

/**
 * The last `on` of the node that may still be carried out, however long ago it was given: nobody has read it as on
 * since. An `on` that was given twice may be carried out twice. None is pending in a record that proved it off after all.
 */
export function pendingOn(i: Pick<IncidentRecord, 'id' | 'commands' | 'onBefore' | 'proof'>): PendingOn | undefined {
  const isOn = (c: PowerCommand): boolean => c.verb === 'on';
  const last = i.commands.findLast((c) => isOn(c) && !isRead(c));
  if (last !== undefined) return { incident: i.id, n: last.n };
  return i.proof === undefined && !i.commands.some(isOn) ? i.onBefore : undefined;

  function isRead(on: PowerCommand): boolean {
    const of = i.commands.filter((c) => c.device === on.device);
    const repeated = of.filter((c) => isOn(c) && c.n > lastOff(of, on.n)).length > 1;
    return !repeated && of.some((c) => c.n > on.n && c.verb === 'status' && c.result?.power === 'on');
  }
}

const lastOff = (commands: readonly PowerCommand[], before: number): number =>
  commands.findLast((c) => c.verb === 'off' && c.n < before)?.n ?? 0;

/** The record as it takes the place of another: what the fencer must know of that one goes with it. */
export function inPlaceOf(record: IncidentRecord, before: IncidentRecord | undefined): IncidentRecord {
  const on = before && pendingOn(before);
  const denied = before?.denied;
  return { ...record, ...(on !== undefined && { onBefore: on }), ...(denied !== undefined && { denied }) };
}
