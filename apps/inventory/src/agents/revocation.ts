import { MusterError, phaseText, type Hold, type IncidentRecord, type NodeRecord } from '#contracts';
import { stateAfter } from '#domain/node/state.js';
import { withState } from '../nodes/node-status.js';

export interface RevocationFacts {
  hold?: Hold | undefined;
  /** The node's incident, where one is open. */
  incident?: Pick<IncidentRecord, 'id' | 'phase' | 'gate'> | undefined;
  /** Workloads that are assigned to it. */
  workloads: readonly string[];
}

/**
 * Why the agent of the node is not shut out; undefined: it is. From then on nobody watches the node: what is assigned to
 * it stays there, and nothing would notice its death. `force`: so be it.
 */
export function refusedRevocation(n: NodeRecord, f: RevocationFacts, force: boolean): MusterError | undefined {
  const node = n.name;
  if (!n.enrolled && n.awaited === undefined && n.revoked === undefined)
    return new MusterError('ILLEGAL_TRANSITION', `${node} runs no agent of Muster`, { node });
  if (force) return undefined;
  if (f.hold)
    return new MusterError('NODE_RESERVED', `${node} is held by ${f.hold.job ?? f.hold.edit ?? f.hold.claim}`, {
      node,
      ...f.hold,
    });
  if (f.incident)
    return new MusterError(
      'NODE_BUSY',
      `${node} has an open incident: ${f.incident.id} is ${phaseText(f.incident)}; without its agent it could not be judged`,
      { node, incident: f.incident.id },
    );
  if (f.workloads.length > 0)
    return new MusterError(
      'WORKLOADS_PRESENT',
      `${node} has workloads, which nobody would watch: ${f.workloads.join(' ')}; drain it first`,
      { node, workloads: f.workloads },
    );
  return undefined;
}

/** No member any more, and not heard: what was known of it by its agent is not known now. Undefined: it is so already. */
export function revokedNode(n: NodeRecord, by: string, reason: string, at: number): NodeRecord | undefined {
  if (n.revoked !== undefined && !n.enrolled && n.awaited === undefined) return undefined;
  const { awaited: _none, agentKeys: _worthless, verdict: _unjudged, ...rest } = n;
  const node = n.state === stateAfter.revoked ? rest : withState(rest, stateAfter.revoked);
  return { ...node, enrolled: false, revoked: { by, at, reason } };
}
