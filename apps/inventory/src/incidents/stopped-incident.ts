import { isOpenIncident, MusterError, type FencingSettings, type IncidentRecord } from '#contracts';
import { isOrderDue, isOrderPending, withoutOrder } from '#domain/incident/pending-order.js';
import { mayGo, wasCommanded } from '#domain/incident/phases.js';
import { go, note } from '#domain/incident/steps.js';
import { withheld } from '../plan/incidents/withheld.js';

/**
 * What a pause, or mode observe, makes of an incident under way: written into its key, so that a command that was
 * decided on before fails its compare-and-set. Undefined: it gives no command.
 */
export function stopped(
  i: IncidentRecord,
  f: Pick<FencingSettings, 'paused'>,
  by: string,
  at: number,
): IncidentRecord | undefined {
  const text = f.paused === undefined ? `${by} set the mode to observe.` : `${by} paused fencing: ${f.paused.reason}.`;
  if (i.phase !== 'fencing' && i.phase !== 'failed') return withheld(i, text, at) ?? orderWithheld(i, text, at);
  if (wasCommanded(i) || !mayGo(i, 'suppressed')) return note(i, text, at);
  return { ...go(i, 'suppressed', text, at), gate: f.paused === undefined ? 'OBSERVE' : 'PAUSED' };
}

/** An incident of this node may give a command, off or on. */
export const mayCommand = (i: IncidentRecord): boolean => isOpenIncident(i) || isOrderPending(i);

/** The second half of a cycle waits for the first: whether it may be given is asked then. */
const orderWithheld = (i: IncidentRecord, why: string, at: number): IncidentRecord | undefined =>
  isOrderDue(i) ? withoutOrder(note(i, why, at), why) : undefined;

/**
 * Each incident that may give a command is stopped by `stop`, whatever becomes of the others.
 * @throws MusterError with the code of the first that could not be, naming the nodes of all of these
 */
export async function stopAll(
  incidents: readonly IncidentRecord[],
  stop: (i: IncidentRecord) => Promise<unknown>,
): Promise<void> {
  const failed: { node: string; error: MusterError }[] = [];
  const one = (i: IncidentRecord): Promise<unknown> =>
    stop(i).catch((e: unknown) => failed.push({ node: i.node, error: MusterError.from(e) }));
  await Promise.all(incidents.filter(mayCommand).map(one));
  const [first] = failed;
  if (first === undefined) return;
  const nodes = failed.map((f) => f.node).sort();
  throw new MusterError(
    first.error.code,
    `It is set, but a command to ${nodes.join(', ')} may still be on its way: ${first.error.message}. Ask again.`,
    { nodes },
    { cause: first.error },
  );
}
