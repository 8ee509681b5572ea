import type { GateResult, IncidentRecord, NodeRecord, Verdict } from '#contracts';

export interface NewIncident {
  id: string;
  node: NodeRecord;
  cause: 'auto' | 'manual';
  by?: string;
  /** By the policy for nodes that stay DEGRADED. */
  degraded?: boolean;
  reason: string;
  verdict?: Verdict | undefined;
  gates: GateResult[];
  /** Token of the conductor that opens it; 0: an operator's order, the conductor takes it on. */
  conductor: number;
  /** What is known beside the verdict. */
  story: string;
  at: number;
}

/** A fresh incident, opened and under investigation. */
export function newIncident(n: NewIncident): IncidentRecord {
  const incident: IncidentRecord = {
    id: n.id,
    node: n.node.name,
    phase: 'investigating',
    cause: n.cause,
    reason: n.reason,
    openedAt: n.at,
    updatedAt: n.at,
    gates: n.gates,
    conductor: n.conductor,
    level: 0,
    attempt: 0,
    commands: [],
    recovery: [],
    steps: [
      { phase: 'open', at: n.at, detail: n.by === undefined ? n.reason : `${n.by}: ${n.reason}` },
      { phase: 'investigating', at: n.at, detail: n.story },
    ],
  };
  if (n.by !== undefined) incident.by = n.by;
  if (n.degraded === true) incident.degraded = true;
  if (n.verdict !== undefined) incident.verdict = n.verdict;
  const boot = n.verdict?.bootId ?? n.node.bootId;
  if (boot !== undefined) incident.bootId = boot;
  return incident;
}
