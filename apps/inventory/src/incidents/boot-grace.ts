import type { IncidentRecord, NodeRecord } from '#contracts';

/**
 * The command by which Muster has switched the node on, while it may still be booting: it was not ordered down since, and
 * has not been heard in another boot than the one before. Undefined: nothing of the kind. Names the command for a clock
 * of the asker's own, since a grace is never measured by times in records.
 */
export function bootAwaited(
  i: Pick<IncidentRecord, 'id' | 'commands' | 'bootId' | 'order'>,
  node: Pick<NodeRecord, 'bootId'> | undefined,
): string | undefined {
  const last = i.commands.findLast((c) => c.verb !== 'status');
  if (last?.verb !== 'on' || last.result?.ok !== true) return undefined;
  const ordered = i.order?.action === 'on' && last.n > i.order.after;
  const before = ordered ? i.order?.bootId : i.bootId;
  return node?.bootId === before ? `${i.id}/${last.n}` : undefined;
}
