import { isOpenIncident, type GateAnswer, type IncidentRecord, type NodeRecord, type WorkloadRecord } from '#contracts';
import { isBeforeFencing } from '#domain/incident/phases.js';

/** Cause of a start that is owed since an operator registered the workload where it already runs. */
export const PUT = 'put';

/** All read live for this one question. */
export interface StartGateFacts {
  node: string;
  workload: WorkloadRecord | undefined;
  record: NodeRecord | undefined;
  incident: IncidentRecord | undefined;
  /** Boot that the node runs, by its agent's word; undefined: not known, which is a no. */
  boot: string | undefined;
  /** For which the unit was made that asks; undefined: whichever is current. */
  generation?: number;
}

/** May this workload start on this node, now? Everything unknown is a no: a node that nobody vouches for starts nothing. */
export function askStartGate(f: StartGateFacts): GateAnswer {
  const no = (reason: string): GateAnswer => ({ allowed: false, reason });
  const w = f.workload;
  if (w === undefined) return no('There is no such workload.');
  if (w.desired !== 'running') return no('It shall not run.');
  if (w.assignment === undefined) return no('It is assigned to no node.');
  if (w.assignment.node !== f.node)
    return no(`It is assigned to ${w.assignment.node}, generation ${w.assignment.generation}.`);
  if (w.stop !== undefined) return no('It is to leave this node, and is being stopped here.');
  if (w.held !== undefined) return no(`It is held: ${w.held}`);
  if (w.start !== undefined && w.start.job === undefined && w.start.cause !== PUT)
    return no('Its start here is not yet due: the other nodes are looked at first.');
  const n = f.record;
  if (n === undefined) return no('The node is not known.');
  if (n.revoked !== undefined) return no(`The node's agent was revoked: ${n.revoked.reason}.`);
  const i = f.incident;
  // A node that is about to be, or was, powered off starts nothing: not between the off and the clearing either.
  if (i !== undefined && isOpenIncident(i) && !isBeforeFencing(i)) return no(`The node's incident is ${i.phase}.`);
  if (n.confirmedOff !== undefined) return no('The node counts as powered off.');
  if (n.maintenance !== undefined) return no(`The node is in maintenance: ${n.maintenance.reason}.`);
  if (n.pendingReturn !== undefined)
    return no(`The node has returned (${n.pendingReturn.reason}) and waits for its check.`);
  if (n.enrolled && f.boot === undefined) return no('It is not known which boot the node runs.');
  if (n.enrolled && f.boot !== n.bootId) return no('The node has rebooted and waits for its check.');
  const { followed } = w.assignment;
  const generation = f.generation !== undefined && f.generation === followed ? followed : w.assignment.generation;
  return { allowed: true, generation, reason: `Assigned here, generation ${generation}.` };
}
