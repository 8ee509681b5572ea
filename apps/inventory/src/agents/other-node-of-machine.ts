import { isSerial, MusterError, nodeName, type AgentEnrolRequest, type NodeRecord } from '#contracts';
import { isServing } from '../nodes/removal.js';

/** By what a machine is found on the record of a node, the surest first. */
export type Evidence = 'machine id' | 'serial number' | 'ssh host keys';

export interface OtherNode {
  node: NodeRecord;
  by: Evidence;
}

/** Its machine may be another node from now on: nothing runs there, nothing of it is watched as in service, or powered off. */
const isVacant = (n: NodeRecord): boolean => n.status === 'Decommissioned';

/**
 * The other nodes that the machine is on record as; `taken` are those that it must not be beside the one that it asks for:
 * two nodes would be judged and powered off as if they were two machines, the work of the second dying for the first.
 * A node that has this very installation already may always be enrolled again: that makes no second one.
 * `current`: the record of the node that it asks for.
 */
export function otherNodesOf(
  r: AgentEnrolRequest,
  current: NodeRecord | undefined,
  nodes: Iterable<NodeRecord>,
): { taken: OtherNode[]; vacant: OtherNode[] } {
  const name = nodeName(r.label, r.serial);
  const found = [...nodes].flatMap((node): OtherNode[] => {
    const by = node.name === name ? undefined : evidence(r, current, node);
    return by === undefined ? [] : [{ node, by }];
  });
  const again = current !== undefined && !isVacant(current) && r.machine !== undefined && current.machine === r.machine;
  return {
    taken: again ? [] : found.filter(({ node }) => !isVacant(node)),
    vacant: found.filter(({ node }) => isVacant(node)),
  };
}

function evidence(r: AgentEnrolRequest, current: NodeRecord | undefined, other: NodeRecord): Evidence | undefined {
  if (r.machine !== undefined && r.machine === other.machine) return 'machine id';
  const serial = shownSerial(r, current);
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

/** @throws MusterError ALREADY_EXISTS where the machine is another node that is not vacant; facts `node` and `by` */
export function refuseSecondNode(
  r: AgentEnrolRequest,
  current: NodeRecord | undefined,
  nodes: Iterable<NodeRecord>,
): void {
  const [first] = otherNodesOf(r, current, nodes).taken;
  if (first === undefined) return;
  const { node, by } = first;
  throw new MusterError(
    'ALREADY_EXISTS',
    `the machine that would be ${nodeName(r.label, r.serial)} is node ${node.name} already, which has its ${by} and is ${node.status} and ${node.state}: ${remedy(node)}; ${ifTwo[by]}`,
    { node: node.name, by },
  );
}

const remedy = (n: NodeRecord): string =>
  isServing(n)
    ? `decommission that one first (muster node decommission ${n.name})`
    : `delete that one first (muster node delete ${n.name})`;

const ifTwo: Record<Evidence, string> = {
  'machine id': 'where they are two machines, one is a copy: give it an /etc/machine-id of its own',
  'serial number': 'where they are two machines to which their maker gave one number, install the agent by hand',
  'ssh host keys': 'where they are two machines, one has the keys of the other: have it make its own',
};
