import type { IncidentRecord } from '#contracts';
import { quietPhases } from './phases.js';

/** An operator's order to its power that is still to be carried out. */
export const isOrderPending = (i: Pick<IncidentRecord, 'order'>): boolean =>
  i.order !== undefined && i.order.done !== true;

/** It may be carried out now: before that the power of the node is the incident's alone. */
export const isOrderDue = (i: Pick<IncidentRecord, 'phase' | 'order'>): boolean =>
  isOrderPending(i) && quietPhases.includes(i.phase);

/** Such an order is void: what it was given for is no longer so. */
export const withoutOrder = (i: IncidentRecord, why: string): IncidentRecord =>
  i.order === undefined || !isOrderPending(i) ? i : { ...i, order: { ...i.order, done: true, ok: false, detail: why } };
