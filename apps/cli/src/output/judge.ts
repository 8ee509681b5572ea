import type { StatusView } from '#contracts';

/** Three leases make a working Muster; each is taken over within seconds when its holder dies. */
export const NEEDED_LEASES = ['detector', 'conductor', 'fencer'] as const;

/** A beacon older than this makes every verdict UNKNOWN: the source is BEACON_FRESH_MS of the contracts. */
const BEACON_OLD_MS = 3_000;

const holderOf = (s: StatusView, name: string): string | undefined =>
  s.leases.find((l) => l.name === name && l.holder !== undefined && l.holder !== '')?.holder;

/** What makes it serious: nobody would be fenced, or a fencing is stuck. */
export function criticalFindings(s: StatusView): string[] {
  const findings = NEEDED_LEASES.filter((name) => holderOf(s, name) === undefined).map((name) => `no ${name} leads`);
  if (s.detector.beaconAgeMs === undefined || s.detector.beaconAgeMs > BEACON_OLD_MS)
    findings.push('no detector is heard');
  else if (!s.detector.sighted && s.detector.members > 0) findings.push('the detector sees too few of the nodes');
  for (const i of s.incidents)
    if (i.phase === 'failed' || i.phase === 'suppressed')
      findings.push(`${i.node} is ${i.phase}${i.gate === undefined ? '' : ` (${i.gate})`}`);
  for (const a of s.alarms)
    if (a.severity === 'critical' && a.cleared === undefined && a.acknowledged === undefined)
      findings.push(`alarm ${a.code} ${a.subject}`);
  return findings;
}

/** What a person should look at, though nothing is lost: each names its subject. */
export function attentionFindings(s: StatusView): string[] {
  const findings: string[] = [];
  if (s.fencing.mode === 'observe') findings.push('fencing only observes (muster fencing set enforce)');
  if (s.fencing.paused !== undefined) findings.push('fencing is paused');
  for (const i of s.incidents) findings.push(`${i.node} is ${i.phase}`);
  for (const a of s.alarms) if (a.cleared === undefined) findings.push(`alarm ${a.code} ${a.subject}`);
  for (const d of s.missingDrivers) findings.push(`no live worker offers driver ${d.driver}`);
  return findings;
}

/** Exit code of `muster status`: 0 well, 1 needs attention, 2 serious. */
export function judge(s: StatusView): 0 | 1 | 2 {
  if (criticalFindings(s).length > 0) return 2;
  return attentionFindings(s).length > 0 ? 1 : 0;
}
