import type { Hold, IncidentRecord, NodeRecord, OutReason } from '#contracts';

/** What one answer rests on, read at that moment. */
export interface ServiceFacts {
  /** The node's incident, where one is open. */
  incident?: Pick<IncidentRecord, 'id' | 'phase'> | undefined;
  /** Why it is about to shut down, see `shutdownAwaited`. */
  shutdown?: string | undefined;
  hold?: Hold | undefined;
  /** Why the policy for DEGRADED nodes has nothing placed on it. */
  avoided?: string | undefined;
  /** Power drivers of the node that no live fencer offers. */
  missingPowerDrivers: readonly string[];
  /** Does a live provisioner offer the node's driver? */
  provisionable: boolean;
  /** Why the watches behind this answer may not show all; undefined: they do. */
  gap?: string | undefined;
  /** A beacon of a sighted detector is fresh. */
  detectorSighted: boolean;
}

/**
 * Every reason why the node is out of service; none: it is in service. Computed at every read and again at the commit
 * of any claim or operation, never stored. What is not known counts against it.
 */
export function outReasons(n: NodeRecord, f: ServiceFacts): OutReason[] {
  const reasons: OutReason[] = [];
  const out = (code: OutReason['code'], detail: string): void => void reasons.push({ code, detail });
  if (n.status !== 'Allocated') out('STATUS', `its status is ${n.status}`);
  if (n.state !== 'Discovered') out('STATE', `its state is ${n.state}`);
  if (n.revoked) out('STATE', `its agent was revoked by ${n.revoked.by}: ${n.revoked.reason}`);
  if (n.cordon) out('CORDONED', `cordoned by ${n.cordon.by}: ${n.cordon.reason}`);
  if (n.maintenance) out('MAINTENANCE', n.maintenance.reason);
  if (f.avoided !== undefined) out('DEGRADED', f.avoided);
  if (f.incident) out('INCIDENT', `incident ${f.incident.id} is ${f.incident.phase}`);
  if (f.shutdown !== undefined) out('SHUTS_DOWN', f.shutdown);
  if (n.pendingReturn) out('PENDING_RETURN', pendingText(n.pendingReturn, n.cordon !== undefined));
  if (f.hold && !isOnlyPeriodicCheck(f.hold))
    out('RESERVED', `held by ${f.hold.job ?? f.hold.edit ?? f.hold.claim ?? 'another'}`);
  if (!f.provisionable) out('NO_PROVISION_WORKER', `no live provisioner offers driver ${n.provisionDriver}`);
  for (const driver of f.missingPowerDrivers) out('NO_POWER_WORKER', `no live fencer offers driver ${driver}`);
  const stale = staleness(n, f);
  if (stale !== undefined) out('VIEW_STALE', stale);
  return reasons;
}

/** A periodic check changes nothing of what serves: the node is in service while it runs, unless a claim holds it as well. */
export const isOnlyPeriodicCheck = (h: Hold): boolean =>
  h.periodic === true && h.claim === undefined && h.edit === undefined;

function pendingText(p: NonNullable<NodeRecord['pendingReturn']>, isCordoned: boolean): string {
  if (p.held !== undefined) return `it returned (${p.reason}) and waits for an operator: ${p.held}`;
  if (isCordoned) return `it returned (${p.reason}) and is neither checked nor set up again before it is uncordoned`;
  const job = p.next === 'resetup' ? 're-setup' : 'check';
  const why = p.next === 'resetup' ? p.found : p.unreached?.why;
  return `it returned (${p.reason}) and its ${job} has not passed yet${why === undefined ? '' : `: ${why}`}`;
}

/** A node that nobody watches by an agent is known by what external monitors say: no detector is asked for it. */
function staleness(n: NodeRecord, f: ServiceFacts): string | undefined {
  if (f.gap !== undefined) return f.gap;
  if (!n.enrolled) return undefined;
  if (!f.detectorSighted) return 'no detector with a quorum has been heard for 3 s';
  const v = n.verdict?.verdict;
  if (v === 'SUSPECT' || v === 'UNKNOWN') return `its last verdict is ${v}`;
  return undefined;
}
