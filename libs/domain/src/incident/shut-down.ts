import type { IncidentRecord, NodeRecord, PowerCommand } from '#contracts';
import { isOrderPending } from './pending-order.js';

/** These ran to their limit or were ended in their course: the device may have taken them. */
const unsure: readonly (string | undefined)[] = ['BMC_TIMEOUT', 'COMMAND_FAILED'];

const mayHaveWorked = ({ result }: PowerCommand): boolean =>
  result === undefined || result.ok || unsure.includes(result.code);

/**
 * The system is to shut down by an operator's order, in the boot that it runs: what is started there would go down with
 * it, and a node that goes down by its own word is not recovered for minutes. The order is checked once, and carried out
 * up to two minutes later; a system may take minutes more. Undefined once it runs in another boot, or by another order.
 */
export function shutdownAwaited(
  i: Pick<IncidentRecord, 'order' | 'commands'> | undefined,
  node: Pick<NodeRecord, 'bootId'> | undefined,
): string | undefined {
  const order = i?.order;
  if (i === undefined || order?.action !== 'soft' || order.bootId !== node?.bootId) return undefined;
  if (isOrderPending(i)) return `${order.by} ordered its system to shut down: ${order.reason}`;
  return softsOf(i, order.after).some(mayHaveWorked)
    ? `its system was asked to shut down by ${order.by}, and runs the same boot still: ${order.reason}`
    : undefined;
}

/** Commands `soft` of the order, whatever came of them. */
export const softsOf = ({ commands }: Pick<IncidentRecord, 'commands'>, after: number): PowerCommand[] =>
  commands.filter((c) => c.verb === 'soft' && c.n > after);
