import { isSerial, MusterError, nodeName, type AgentEnrolRequest, type NodeRecord } from '#contracts';

const EVIDENCE = ['machine id', 'serial number', 'ssh host keys'] as const;
/** By what a machine is found on the record of a node, the surest first. */
export type Evidence = (typeof EVIDENCE)[number];

export interface OtherNode {
  node: NodeRecord;
  by: Evidence;
}

/**
 * The other nodes that the machine is on record as, whatever they are; the surest first, then by name. Two nodes would
 * be judged and powered off as if they were two machines, the work of the second dying for the first.
 * A node that has this very installation already may always be enrolled again: that makes no second one. Only while its
 * agent is waited for it is refused by the machine id: a crash may have left two records of one enrolment. One to which
 * no agent was issued yet, as an operator makes it, is refused to a machine that shows its id by that alone: that the
 * machine is this node was said by somebody, and the number of a mainboard or a key may be that of two.
 * `current`: the record of the node that it asks for.
 */
export function otherNodesOf(
  r: AgentEnrolRequest,
  current: NodeRecord | undefined,
  nodes: Iterable<NodeRecord>,
): OtherNode[] {
  const isItself = r.machine !== undefined && current?.machine === r.machine;
  if (isItself && current.awaited === undefined) return [];
  const name = nodeName(r.label, r.serial);
  const serial = shownSerial(r, current);
  const byIdAlone = isItself || (r.machine !== undefined && isExpected(current));
  return [...nodes]
    .flatMap((node): OtherNode[] => {
      const by = node.name === name ? undefined : evidence(r, serial, node);
      return by === undefined || (byIdAlone && by !== 'machine id') ? [] : [{ node, by }];
    })
    .sort((a, b) => EVIDENCE.indexOf(a.by) - EVIDENCE.indexOf(b.by) || (a.node.name < b.node.name ? -1 : 1));
}

const isExpected = (current: NodeRecord | undefined): boolean =>
  current !== undefined && current.machine === undefined && current.agentKeys === undefined;

function evidence(r: AgentEnrolRequest, serial: string | undefined, other: NodeRecord): Evidence | undefined {
  if (r.machine !== undefined && r.machine === other.machine) return 'machine id';
  if (serial !== undefined && isSame(serial, other.productSerial ?? other.serial)) return 'serial number';
  if (r.hostKeys?.some((key) => other.sshHostKeys?.includes(key))) return 'ssh host keys';
  return undefined;
}

/**
 * What the machine itself has shown. The serial number in the name of a node that is on record may have been typed in,
 * and be that of its place in the rack; in a name that nobody has registered it is the machine's own.
 */
function shownSerial(r: AgentEnrolRequest, current: NodeRecord | undefined): string | undefined {
  const shown = r.productSerial ?? (current === undefined ? r.serial : undefined);
  return shown !== undefined && isSerial(shown) ? shown : undefined;
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** @throws MusterError ALREADY_EXISTS where the machine is another node; facts `node` and `by` */
export function refuseSecondNode(
  r: AgentEnrolRequest,
  current: NodeRecord | undefined,
  nodes: Iterable<NodeRecord>,
): void {
  const [first] = otherNodesOf(r, current, nodes);
  if (first === undefined) return;
  const { node, by } = first;
  // One that holds a token reads this: what the node is and does is not for it.
  throw new MusterError(
    'ALREADY_EXISTS',
    `the machine that would be ${nodeName(r.label, r.serial)} is node ${node.name} already, which has its ${by}: ${remedies(r, first).join('; ')}`,
    { node: node.name, by },
  );
}

const remedies = (r: AgentEnrolRequest, { node, by }: OtherNode): string[] => [
  `where it serves, muster node decommission ${node.name} before`,
  `delete that one first (muster node delete ${node.name})`,
  ...(r.label === node.label && by !== 'serial number'
    ? [`where its mainboard was exchanged, muster node replace ${node.name} ${r.serial} instead`]
    : []),
  ifTwo[by],
];

const ifTwo: Record<Evidence, string> = {
  'machine id': 'where they are two machines, one is a copy: give it an /etc/machine-id of its own',
  'serial number':
    'where they are two machines to which their maker gave one number, install the agent by hand, under a serial number of your own choosing',
  'ssh host keys': 'where they are two machines, one has the keys of the other: have it make its own',
};
