import { MusterError, type Hold, type NodeRecord } from '#contracts';
import type { StartQuestions, StartRefusal } from '#domain/workload/start-decision.js';
import { unknownNode } from '../nodes/node.service.js';
import { cleansUp } from '../operations/admission.js';

/** @param hold what holds the node; the record was read after it */
export const assignmentFacts = (
  node: string,
  record: NodeRecord | undefined,
  hold: Hold | undefined,
): StartQuestions['put-again'] => ({
  node,
  record,
  holder: hold?.edit ?? (hold?.kind !== undefined && cleansUp(hold.kind) ? hold.job : undefined),
});

/** The error by which an operator's word that a workload runs on the node is refused. */
export function refusedAssignment(node: string, { code, why }: StartRefusal, hold: Hold | undefined): MusterError {
  switch (code) {
    case 'NODE_UNKNOWN':
      return unknownNode(node);
    case 'RESERVED':
      return new MusterError('NODE_RESERVED', why, { node, ...hold });
    default:
      return new MusterError(
        'INCIDENT_STATE',
        `${node} is powered off or has an open incident: leave "node" out, and Muster places it.`,
        { node },
      );
  }
}
