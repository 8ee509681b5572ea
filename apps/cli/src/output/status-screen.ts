import { phaseText, type Remedy, type StatusView, type TaskView } from '#contracts';
import type { Observing } from '#contracts/incident/fencing-report.js';
import { gateRemedy } from '#contracts/incident/gate-guide.js';
import { pauseEnd } from '#contracts/settings/settings.js';
import {
  attentionFindings,
  criticalFindings,
  failingTasks,
  judge,
  NEEDED_LEASES,
  hasOnlySuspects,
  verdictText,
  unreportedNodes,
} from './judge.js';
import type { Terminal } from './terminal.js';
import { shortAge, wholeAge } from './times.js';

/** Rows of one kind on the screen; the rest is told as a number. */
const ROWS = 8;

const words = ['all is well', 'needs attention', 'serious'] as const;

/** How far back it is told at most what mode `observe` has kept from being fenced. */
export const DAYS = 30;

/**
 * `muster status`: the same lines on a terminal and in a pipe, with colours on a terminal only.
 * @param observing what mode `observe` has kept from being done in the last {@link DAYS}, or why that is not known;
 *   undefined: it is not the mode, or a server of before does not tell
 * @param wallNow ms
 */
export function statusScreen(
  s: StatusView,
  t: Terminal,
  observing?: Observing | string,
  wallNow = Date.now(),
): string[] {
  const verdict = judge(s);
  // What is serious is not drowned in what only wants attention.
  const findings = verdict === 2 ? criticalFindings(s) : attentionFindings(s);
  return [
    `${t.paint('bold', s.cluster)}: ${t.paint(verdict === 0 ? 'green' : verdict === 1 ? 'yellow' : 'red', hasOnlySuspects(s) ? 'probing' : words[verdict])}${findings.length > 0 ? `: ${named(findings)}` : ''}`,
    `fencing    ${fencing(s, t)}`,
    ...(observing === undefined ? [] : [observed(observing, wallNow)]),
    ...fenceable(s),
    `detector   ${detector(s)}`,
    `leaders    ${leaders(s, t)}`,
    `brake      ${s.brake.candidates} unhealthy nodes, at most ${s.brake.limit}`,
    ...some((s.storms ?? []).map((x) => `  ${t.paint('red', 'storm')}    ${x.detail}`)),
    `nodes      ${s.nodes.inService} of ${s.nodes.total} in service`,
    ...some(s.nodes.out.map((n) => `  out      ${n.node}: ${n.reasons.join('; ')}${todo(n.remedy)}`)),
    ...some(
      (s.nodes.accepted ?? []).map((a) => {
        const end = a.until === undefined ? '' : `, until ${new Date(a.until).toISOString()}`;
        return `  accepted ${a.node}: drift of ${a.services.join(', ') || 'its configuration'}: ${a.reason} (${a.by}${end})`;
      }),
    ),
    ...workloads(s, t),
    ...some(
      ((s as Partial<StatusView>).weaknesses ?? []).map(
        (w) => `  ${t.paint('yellow', 'weak')}     ${w.text}${todo(w.remedy)}`,
      ),
    ),
    ...some(
      unreportedNodes(s).map((n) => {
        const word = t.paint(n.verdict === 'DOWN' ? 'red' : 'yellow', 'verdict');
        return `  ${word}  ${n.node}: ${verdictText(n)} (muster node why ${n.node})`;
      }),
    ),
    ...some(
      s.incidents.map((i) => {
        const remedy = i.gate === undefined ? undefined : gateRemedy(i.gate, i.node);
        return `  ${t.paint('red', 'incident')} ${i.node}: ${phaseText(i)}: ${i.reason}${todo(remedy)}`;
      }),
    ),
    ...some(
      s.alarms
        .filter((a) => a.cleared === undefined)
        .map((a) => {
          const severity = t.paint(a.severity === 'critical' ? 'red' : 'yellow', a.severity);
          const known = a.acknowledged === undefined ? '' : `, acknowledged by ${a.acknowledged.by}`;
          return `  alarm    ${a.code} ${a.subject} (${severity}${known}): ${a.message}${todo(a.remedy, a.message)}`;
        }),
    ),
    ...openNetworks(s, t),
    ...some(failingTasks(s).map((task) => failingTask(task, t))),
    `workers    ${s.workers.map((w) => `${w.id} (${w.drivers.join(', ') || 'no drivers'})`).join(', ') || (s.stale === undefined ? 'none' : 'not known')}`,
    ...some(s.missingDrivers.map((d) => `  missing  driver ${d.driver}: needed by ${d.nodes.join(', ')}`)),
  ];
}

/** What the conductor cannot do, and why. Tasks that go well are in `--json`. */
function failingTask({ name, severity, errors, errorsForMs, lastError: e }: TaskView, t: Terminal): string {
  const what = e === undefined ? '' : `: ${e.about === undefined ? '' : `${e.about}: `}${e.message} (${e.code})`;
  return `  ${t.paint(severity === 'critical' ? 'red' : 'yellow', 'task')}     ${name}: failed ${errors} times in ${shortAge(errorsForMs)}${what}`;
}

/** Chosen by who wrote the configuration: told, and nothing to attend to. */
const openNetworks = ({ compat }: StatusView, t: Terminal): string[] =>
  compat === undefined
    ? []
    : [
        `compat     ${t.paint('yellow', 'no token')} needed on the clusterm surface from ${compat.allowFrom.join(', ')}`,
      ];

/** The command behind what it is about, unless that names it itself. A server of another version may not tell it. */
const todo = (remedy: Remedy | undefined, said = ''): string =>
  remedy === undefined || said.includes(remedy.command) ? '' : ` (${remedy.command})`;

/** Those that are not as they should be, the most important first. */
function workloads(s: StatusView, t: Terminal): string[] {
  const w = (s as Partial<StatusView>).workloads;
  if (w === undefined || w.total === 0) return [];
  const rows = w.worst.map(
    ({ workload, actual: a }) =>
      `  ${t.paint('red', 'workload')} ${workload}: ${a.state}${a.why === undefined ? '' : `: ${a.why}`}${todo(a.remedy, a.why)}`,
  );
  const wrong = w.wrong === 0 ? '' : `, ${w.wrong} not as they should be`;
  return [`workloads  ${w.running} of ${w.total} running${wrong}`, ...some(rows, w.wrong)];
}

/** The first line stays a line. */
const named = (findings: string[]): string =>
  findings.length <= ROWS
    ? findings.join('; ')
    : `${findings.slice(0, ROWS).join('; ')}; and ${findings.length - ROWS} more`;

function fencing({ fencing: f }: StatusView, t: Terminal): string {
  const mode =
    f.mode === 'enforce' ? t.paint('green', 'enforce') : t.paint('yellow', 'observe: nothing is powered off');
  if (f.paused === undefined) return mode;
  return `${mode}, ${t.paint('yellow', 'paused')} ${pauseEnd(f.paused)} by ${f.paused.by}: ${f.paused.reason}`;
}

/** So far back, and no farther, it is a comfort that few would have been fenced. */
function observed(o: Observing | string, wallNow: number): string {
  if (typeof o === 'string') return `  observe  how many it would have fenced is not known: ${o}`;
  const stopped = o.wouldHaveStopped > 0 ? `, and CAP or FLAPPING would have blocked ${o.wouldHaveStopped}` : '';
  const days = `${o.atLeast === true ? 'at least ' : ''}${wholeAge(wallNow - o.since)}`;
  return `  observe  for ${days}: would have fenced ${o.wouldHaveFenced}${stopped} (muster fencing report --days ${DAYS})`;
}

/** A server of another version may not tell. */
function fenceable(s: StatusView): string[] {
  const f = (s as Partial<StatusView>).fenceable;
  if (f === undefined || f.proven + f.unproven + f.mismatch.length === 0) return [];
  const parts = [
    `${f.proven} proven${f.drilled > 0 ? ` (${f.drilled} by a drill)` : ''}`,
    ...(f.unproven > 0 ? [`${f.unproven} unproven`] : []),
    ...(f.mismatch.length > 0
      ? [`${f.mismatch.length} not their own device: ${f.mismatch.slice(0, ROWS).join(', ')}`]
      : []),
  ];
  return [`fenceable  ${parts.join(', ')}`];
}

function detector({ detector: d }: StatusView): string {
  if (d.beaconAgeMs === undefined) return 'not heard';
  const sight = d.sighted ? 'quorum' : 'no quorum';
  return `${sight}, ${d.reporters} of ${d.members} members report (${d.instance ?? 'unknown'}, beacon ${shortAge(d.beaconAgeMs)} ago)`;
}

function leaders({ leases }: StatusView, t: Terminal): string {
  return NEEDED_LEASES.map((name) => {
    const lease = leases.find((l) => l.name === name);
    if (lease?.holder === undefined || lease.holder === '') return `${name}: ${t.paint('red', 'nobody')}`;
    return `${name}: ${lease.holder} (${shortAge(lease.ageMs)})`;
  }).join(', ');
}

/** @param all how many there are, where not all of them were told */
const some = (rows: string[], all = rows.length): string[] =>
  all <= ROWS ? rows : [...rows.slice(0, ROWS), `           and ${all - ROWS} more`];
