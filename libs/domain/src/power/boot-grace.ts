import type { IncidentRecord, NodeRecord, PowerCommand } from '#contracts';
import { isOrderPending } from '../incident/pending-order.js';
import { quietPhases } from '../incident/phases.js';

/**
 * The command by which Muster has switched the node on, while it may still be booting: it may have worked, the node was
 * not ordered down since, and it has not been heard in another boot than the one before. A command whose end nobody has
 * told may have worked, and so may one that ran into its limit. Undefined: nothing of the kind. Names the command for a
 * clock of the asker's own, since a grace is never measured by times in records.
 */
export function bootAwaited(
  i: Pick<IncidentRecord, 'id' | 'commands' | 'bootId' | 'order'>,
  node: Pick<NodeRecord, 'bootId'> | undefined,
): string | undefined {
  const since = i.commands.slice(i.commands.findLastIndex((c) => c.verb === 'off' || c.verb === 'soft') + 1);
  const last = since.findLast((c) => c.verb === 'on');
  if (last === undefined) return undefined;
  const order = i.order?.action === 'on' && last.n > i.order.after ? i.order : undefined;
  // Whoever carried an order out has read the power of every device before it said how it ended.
  const mayBeOn = order?.ok ?? since.some((c) => c.verb === 'on' && mayHaveWorked(c, since));
  if (!mayBeOn) return undefined;
  // An order to a node that was never heard names no boot, nor does one of an earlier Muster.
  const before = order?.bootId ?? i.bootId;
  return node?.bootId === undefined || node.bootId === before ? `${i.id}/${last.n}` : undefined;
}

/**
 * The same, where somebody should be told once its grace is over: the node runs an agent, and is not heard in any boot.
 * Undefined too while an incident of it is on its way, which says more.
 */
export const bootMissed = (i: IncidentRecord, node: NodeRecord | undefined): string | undefined =>
  node?.enrolled === true && node.state !== 'Discovered' && quietPhases.includes(i.phase)
    ? bootAwaited(i, node)
    : undefined;

const mayHaveWorked = (on: PowerCommand, later: readonly PowerCommand[]): boolean =>
  on.result === undefined ||
  on.result.ok ||
  later.some((c) => c.verb === 'status' && c.device === on.device && c.n > on.n && c.result?.power === 'on');

/** Its power is the order's until that is done: an incident in its place would lose it, and how its commands ended. */
export const isOrderedOn = (i: Pick<IncidentRecord, 'order'>): boolean => isOrderPending(i) && i.order?.action === 'on';
