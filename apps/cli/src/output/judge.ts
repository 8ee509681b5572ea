import { phaseText, type StatusView, type TaskView, type UnhealthyNode } from '#contracts';

/** Three leases make a working Muster; each is taken over within seconds when its holder dies. */
export const NEEDED_LEASES = ['detector', 'conductor', 'fencer'] as const;

/** Which service takes the lease. */
const contenders: Readonly<Record<(typeof NEEDED_LEASES)[number], string>> = {
  detector: 'a detector',
  conductor: 'an inventory',
  fencer: 'a fencer',
};

/** A beacon older than this makes every verdict UNKNOWN: the source is BEACON_FRESH_MS of the contracts. */
const BEACON_OLD_MS = 3_000;

const holderOf = (s: StatusView, name: string): string | undefined =>
  s.leases.find((l) => l.name === name && l.holder !== undefined && l.holder !== '')?.holder;

/** What makes it serious: nobody would be fenced, or a fencing is stuck. */
export function criticalFindings(s: StatusView): string[] {
  const leaders = NEEDED_LEASES.filter((name) => holderOf(s, name) === undefined).map(
    (name) => `no ${name} leads (where that lasts, start ${contenders[name]})`,
  );
  // First, since all else may follow from it.
  const findings = [...(s.store === undefined ? [] : [s.store.replace(/\.$/, '')]), ...leaders];
  if (s.detector.beaconAgeMs === undefined || s.detector.beaconAgeMs > BEACON_OLD_MS)
    findings.push('no detector is heard');
  else if (!s.detector.sighted && s.detector.members > 0) findings.push('the detector has no quorum');
  for (const i of s.incidents)
    if (i.phase === 'failed' || i.phase === 'suppressed') findings.push(`${i.node} is ${phaseText(i)}`);
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
export const hasOnlySuspects = (s: StatusView): boolean => judge(s) === 1 && standingFindings(s).length === 0;

/** Nodes that are not all well, of which neither an incident nor an alarm tells yet. */
export function unreportedNodes(s: StatusView): UnhealthyNode[] {
  const reported = new Set([
    ...s.incidents.map((i) => i.node),
    ...s.alarms.filter((a) => a.code === 'node-degraded' && a.cleared === undefined).map((a) => a.subject),
  ]);
  // A server of another version may not name them.
  const { troubled = [] } = s.nodes as Partial<StatusView['nodes']>;
  return troubled.filter((t) => !reported.has(t.node));
}

/** Tasks of the conductor that fail more than once in a row: a compare-and-set that is lost once is everyday. */
export const failingTasks = ({ tasks = [] }: StatusView): TaskView[] => tasks.filter((t) => t.errors > 1);

/** `DEGRADED on backend`. */
export const verdictText = ({ verdict, networks }: UnhealthyNode): string =>
  networks.length === 0 ? verdict : `${verdict} on ${networks.join(', ')}`;

const untold = (s: StatusView, of: (v: UnhealthyNode['verdict']) => boolean): string[] =>
  unreportedNodes(s)
    .filter((t) => of(t.verdict))
    .map((t) => `${t.node} is ${verdictText(t)}`);

function standingFindings(s: StatusView): string[] {
  const findings = s.stale === undefined ? [] : [`what is told may be old: ${s.stale}`];
  if (s.fencing.mode === 'observe') findings.push('fencing only observes (muster fencing set enforce)');
  if (s.fencing.paused !== undefined) findings.push('fencing is paused');
  for (const i of s.incidents) findings.push(`${i.node} is ${phaseText(i)}`);
  for (const a of s.alarms) if (a.cleared === undefined) findings.push(`alarm ${a.code} ${a.subject}`);
  findings.push(...untold(s, (v) => v !== 'SUSPECT'));
  for (const t of failingTasks(s)) findings.push(`task ${t.name} fails`);
  for (const d of s.missingDrivers) findings.push(`no live worker offers driver ${d.driver}`);
  findings.push(...workloadFindings(s), ...outFindings(s));
  for (const w of (s as Partial<StatusView>).weaknesses ?? []) findings.push(w.text);
  return findings;
}

/** So many of one kind are named one by one; more are told as a number. */
const NAMED = 3;

/** Nodes that somebody should look at, and that nothing else on the screen tells of. */
function outFindings(s: StatusView): string[] {
  const reported = new Set([
    ...s.incidents.map((i) => i.node),
    ...s.alarms.filter((a) => a.cleared === undefined).map((a) => a.subject),
    ...((s.nodes as Partial<StatusView['nodes']>).troubled ?? []).map((t) => t.node),
    ...s.missingDrivers.flatMap((d) => d.nodes),
  ]);
  const out = s.nodes.out.filter((o) => o.planned === false && !reported.has(o.node)).map((o) => o.node);
  if (out.length > NAMED) return [`${out.length} nodes are out of service`];
  if (out.length > 0) return out.map((node) => `${node} is out of service`);
  return s.nodes.total > 0 && s.nodes.inService === 0 ? ['no node is in service'] : [];
}

/** What should run and does not, or the other way round. A server of another version may not tell. */
function workloadFindings(s: StatusView): string[] {
  const { workloads } = s as Partial<StatusView>;
  if (workloads === undefined || workloads.wrong === 0) return [];
  if (workloads.wrong > NAMED) return [`${workloads.wrong} workloads are not as they should be`];
  return workloads.worst.map((w) => `workload ${w.workload} is ${w.actual.state}`);
}

/** Exit code of `muster status`: 0 well, 1 needs attention, 2 serious. */
export function judge(s: StatusView): 0 | 1 | 2 {
  if (criticalFindings(s).length > 0) return 2;
  return attentionFindings(s).length > 0 ? 1 : 0;
}
