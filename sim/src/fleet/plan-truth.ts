import type { AlarmCode, AlarmRecord, IncidentRecord, NodeRecord, PlanItem } from '#contracts';

/** Something that stands against a workload, a job, or the incident of a node. */
export interface Obstacle {
  name: string;
  /** Name of the workload or node, id of the job. */
  subject: string;
  node: string | undefined;
}

/** What the records say, and who speaks. */
export interface PlanWorld {
  speaks: (node: string) => boolean;
  /** The last incident of a node; open or not. */
  incident: (node: string) => IncidentRecord | undefined;
  node: (node: string) => NodeRecord | undefined;
  isJob: (id: string) => boolean;
  /** Undefined: it does not stand. */
  alarm: (code: AlarmCode, subject: string) => AlarmRecord | undefined;
}

/** Does an item say that this stands against it? */
type NamesIt = (i: PlanItem, o: Obstacle, w: PlanWorld) => boolean;

/** About the incident of the node, which the incident's own item names. */
const incidentOf =
  (says: NamesIt): NamesIt =>
  (i, o, w) =>
    i.about === 'incident' && i.name === o.node && says(i, o, w);

/** Its alarm and the plan give the same reason; one of them may say more. */
const asAlarmed =
  (code: AlarmCode): NamesIt =>
  (i, { subject }, w) => {
    if (i.about !== 'workload' || i.name !== subject || i.does !== 'waits') return false;
    const message = w.alarm(code, subject)?.message;
    return message !== undefined && (message.includes(i.reason) || i.reason.includes(message));
  };

/** As its alarm; or it is to leave a node that has fallen silent since, whose incident it waits for. */
const asHeld: NamesIt = (i, o, w) =>
  asAlarmed('workload-held')(i, o, w) ||
  (i.about === 'workload' &&
    i.name === o.subject &&
    i.does === 'waits' &&
    o.node !== undefined &&
    !w.speaks(o.node) &&
    i.reason.includes(`${o.node} is silent: `));

/** The operation waits for a node, of which its alarm gives the same reason behind a sentence of its own. */
const asEmptied: NamesIt = (i, { subject, node = '' }, w) => {
  if (i.about !== 'job' || i.name !== subject || i.does !== 'waits') return false;
  const why = w.alarm('drain-stuck', node)?.message.replace(/^[^.]*\. /, '');
  return why !== undefined && i.reason.includes(why);
};

const countsFencings: readonly PlanItem['gate'][] = ['BRAKE', 'CAP', 'FLAPPING'];

const gate = (code: string): NamesIt =>
  incidentOf((i, { node = '' }, w) => {
    if (i.gate === code) return true;
    // In mode observe it is said what enforcing it would do: which of the other gates stops it then, or none. Those that
    // count fencings count what would have been fenced.
    if (i.does === 'would' && i.reason.includes('The mode is observe.'))
      return code === 'OBSERVE' || countsFencings.includes(i.gate);
    // Before the next try comes, the gate is not asked.
    if (w.incident(node)?.phase === 'failed' && i.next === 'is fenced again') return true;
    // Its verdict may be of this moment, and its record of the moment before.
    return w.speaks(node) && (i.does === 'acts' || i.gate === 'LIFE_SIGN');
  });

/** A return that a person's cordon stops; or that is held, which the plan says before that. */
const asCordoned: NamesIt = (i, { node = '' }, w) =>
  i.about === 'return' &&
  i.name === node &&
  i.does === 'waits' &&
  (i.reason === w.node(node)?.pendingReturn?.held || i.reason.includes('it is cordoned'));

/**
 * Obstacle → the item that names it. Of what nobody sees the conductor decides nothing, and a cordon, but for that of a
 * return, or the mode is a person's own: for those no item is asked.
 */
const says: Readonly<Record<string, NamesIt>> = {
  collateral: incidentOf(
    (i, { node = '' }, w) =>
      i.next === 'recovers nothing' &&
      (w.incident(node)?.collateral?.nodes ?? []).every((hit) => i.reason.includes(hit.node)),
  ),
  'a drill that nobody sees': incidentOf(
    (i) => i.next === 'judges its drill' && i.reason.includes('No detector with a quorum'),
  ),
  'a contradiction': incidentOf((i) => i.next === 'recovers nothing more'),
  'an order that was cancelled': incidentOf(
    (i) => i.next === 'opens an incident' && i.reason.includes('cancelled its incident'),
  ),
  'a held return': (i, { node = '' }, w) =>
    i.about === 'return' && i.name === node && i.reason === w.node(node)?.pendingReturn?.held,
  'alarm drain-stuck': asEmptied,
  'alarm no-room': asAlarmed('no-room'),
  'alarm workload-held': asHeld,
};

/** Does the plan name what stands against it, by its true reason? Undefined: it is not asked of it. */
export function isNamed(o: Obstacle, items: readonly PlanItem[], w: PlanWorld): boolean | undefined {
  const code = /^gate (.*)$/.exec(o.name)?.[1];
  const isReturn = w.node(o.node ?? '')?.pendingReturn !== undefined;
  const named = o.name === 'a cordon' && isReturn ? asCordoned : says[o.name];
  const expected = code === undefined ? named : gate(code);
  if (expected === undefined) return undefined;
  // An operation that waits is in the plan itself, beside what it waits for.
  const isListed = !w.isJob(o.subject) || items.some((i) => i.about === 'job' && i.name === o.subject);
  return isListed && items.some((i) => expected(i, o, w));
}

/** What the plan says of what an obstacle stands against, in one line. */
export const saidOf = ({ subject, node }: Obstacle, items: readonly PlanItem[]): string =>
  items
    .filter((i) => i.name === subject || (node !== undefined && i.nodes.includes(node)))
    .map((i) => `${i.about} ${i.name} ${i.does} ${i.next}: ${i.reason}`)
    .join(' ');
