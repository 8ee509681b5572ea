import type { StatusView, TroubledNode } from '#contracts';

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
  return [...standingFindings(s), ...untold(s, (v) => v === 'SUSPECT')];
}

/** Nothing but suspects: within seconds they live, or are dead. */
export const onlyLooks = (s: StatusView): boolean => judge(s) === 1 && standingFindings(s).length === 0;

/** Nodes in trouble of which neither an incident nor an alarm tells yet. */
export function untoldNodes(s: StatusView): TroubledNode[] {
  const told = new Set([
    ...s.incidents.map((i) => i.node),
    ...s.alarms.filter((a) => a.code === 'node-degraded' && a.cleared === undefined).map((a) => a.subject),
  ]);
  // A server of another version may not name them.
  const { troubled = [] } = s.nodes as Partial<StatusView['nodes']>;
  return troubled.filter((t) => !told.has(t.node));
}

/** `DEGRADED on backend`. */
export const troubleText = ({ verdict, networks }: TroubledNode): string =>
  networks.length === 0 ? verdict : `${verdict} on ${networks.join(', ')}`;

const untold = (s: StatusView, of: (v: TroubledNode['verdict']) => boolean): string[] =>
  untoldNodes(s)
    .filter((t) => of(t.verdict))
    .map((t) => `${t.node} is ${troubleText(t)}`);

function standingFindings(s: StatusView): string[] {
  const findings: string[] = [];
  if (s.fencing.mode === 'observe') findings.push('fencing only observes (muster fencing set enforce)');
  if (s.fencing.paused !== undefined) findings.push('fencing is paused');
  for (const i of s.incidents) findings.push(`${i.node} is ${i.phase}`);
  for (const a of s.alarms) if (a.cleared === undefined) findings.push(`alarm ${a.code} ${a.subject}`);
  findings.push(...untold(s, (v) => v !== 'SUSPECT'));
  for (const d of s.missingDrivers) findings.push(`no live worker offers driver ${d.driver}`);
  return findings;
}

/** Exit code of `muster status`: 0 well, 1 needs attention, 2 serious. */
export function judge(s: StatusView): 0 | 1 | 2 {
  if (criticalFindings(s).length > 0) return 2;
  return attentionFindings(s).length > 0 ? 1 : 0;
}
