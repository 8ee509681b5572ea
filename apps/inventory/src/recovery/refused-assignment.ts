import { MusterError, type Hold, type NodeRecord } from '#contracts';
import { unknownNode } from '../nodes/node.service.js';
import { cleansUp } from '../operations/admission.js';

export interface AssignmentFacts {
  record: NodeRecord | undefined;
  /** What holds the node; the record was read after it. */
  hold: Hold | undefined;
}

/**
 * Why an operator's word that a workload runs on the node is not taken; undefined: it is. Whoever deletes, replaces or
 * cleans up a node has made sure before that it has none.
 */
export function refusedAssignment(node: string, { record, hold }: AssignmentFacts): MusterError | undefined {
  if (record === undefined) return unknownNode(node);
  const holder = hold?.edit ?? (hold?.kind !== undefined && cleansUp(hold.kind) ? hold.job : undefined);
  return holder === undefined
    ? undefined
    : new MusterError('NODE_RESERVED', `${node} is held by ${holder}, try again when it has ended`, { node, ...hold });
}
