import type { IncidentRecord, JobRecord, NodeRecord, PowerCommand, Reservations, WorkloadRecord } from '#contracts';
import { isOpenIncident, isSettledJob } from '#contracts';
import type { BmcEntry } from './bmc-log.js';
import type { WorkloadHistory } from './ledger.js';

export const ViolationKinds = [
  'WORKLOAD_TWICE',
  'WORKLOAD_NOWHERE',
  'WORKLOAD_ON_POWERED_OFF_NODE',
  'TWO_OPEN_INCIDENTS',
  'BMC_WRITE_WITHOUT_INTENT',
  'EPOCH_WENT_BACK',
  'STARTED_BEFORE_PROOF',
  'RESERVATION_LEFT',
  'TRANSIENT_STATUS_LEFT',
  'PROCESS_LEAKED',
  'SECRET_SHOWN',
] as const;
export type ViolationKind = (typeof ViolationKinds)[number];

export interface Violation {
  kind: ViolationKind;
  subject: string;
  detail: string;
}

/** Everything that an audit looks at, gathered from outside: the ledger, the BMC logs, the API, /proc, the log files. */
export interface Evidence {
  /** Node names by host name of the lab. */
  nodeOf: Record<string, string>;
  powered: Record<string, boolean>;
  workloads: WorkloadRecord[];
  histories: WorkloadHistory[];
  /** CLOCK_MONOTONIC, ns, when the ledger was read (who has beaten shortly before it runs now), and wall clock, ms. */
  nowNs: number;
  nowAt: number;
  /** When each boot of each host began, CLOCK_MONOTONIC, ns. */
  boots: { host: string; boot: string; ns: number }[];
  bmc: BmcEntry[];
  nodes: NodeRecord[];
  /** Every revision of every incident that an audit has seen, oldest first. */
  incidents: IncidentRecord[];
  /** Node → wall clock, ms: of its incidents before then the store has lost revisions. */
  cutBefore: Record<string, number>;
  jobs: JobRecord[];
  reservations: Reservations;
  /** Command lines of ipmitool and ansible processes of this lab that still run. */
  leaked: string[];
  /** Where a secret was found: file or address, and which. */
  secretsIn: string[];
}

const RUNS_NOW_MS = 1500;
/** A BMC carries out a command at most this long after its intent was written: command limit plus device lag. */
const INTENT_WINDOW_MS = 16_000;

/** Last known state of every incident id. */
const latest = (revisions: readonly IncidentRecord[]): IncidentRecord[] => [
  ...new Map(revisions.map((i) => [i.id, i])).values(),
];

/** All commands ever intended, each once, in its last known form. */
function intents(e: Evidence): (PowerCommand & { node: string; incident: string })[] {
  const all = new Map<string, PowerCommand & { node: string; incident: string }>();
  for (const i of e.incidents)
    // A store that went back gives a number twice.
    for (const c of i.commands) all.set(`${i.id} ${c.n} ${c.epoch} ${c.at}`, { ...c, node: i.node, incident: i.id });
  return [...all.values()];
}

function workloadChecks(e: Evidence): Violation[] {
  const out: Violation[] = [];
  for (const h of e.histories)
    if (h.longestOverlapMs > 0)
      out.push({
        kind: 'WORKLOAD_TWICE',
        subject: h.workload,
        detail: `ran twice at once for ${h.longestOverlapMs.toFixed(0)} ms`,
      });
  for (const w of e.workloads) {
    const runs = e.histories.find((h) => h.workload === w.name)?.runs ?? [];
    const now = runs.filter((r) => (e.nowNs - r.toNs) / 1e6 < RUNS_NOW_MS);
    const off = now.find((r) => e.powered[r.host] === false);
    if (off !== undefined)
      out.push({
        kind: 'WORKLOAD_ON_POWERED_OFF_NODE',
        subject: w.name,
        detail: `beats on ${off.host}, whose power is off`,
      });
    if (w.desired === 'running' && w.held === undefined && now.length === 0)
      out.push({
        kind: 'WORKLOAD_NOWHERE',
        subject: w.name,
        detail: `should run on ${w.assignment?.node ?? 'a node'} and runs nowhere`,
      });
    if (w.desired === 'stopped' && now.length > 0)
      out.push({ kind: 'WORKLOAD_TWICE', subject: w.name, detail: `is stopped by order and runs on ${now[0]?.host}` });
  }
  return out;
}

/**
 * Mission's first "never", seen from outside: where a workload went from one host to another, the BMC of the first
 * must have answered "off" twice in a row before the first beat on the second, or the boot that ran it must have ended,
 * or its stop on the first was read back there, or an operator took it on himself.
 */
function proofChecks(e: Evidence): Violation[] {
  const out: Violation[] = [];
  for (const h of e.histories) {
    const runs = h.runs.toSorted((a, b) => a.fromNs - b.fromNs);
    for (const [n, to] of runs.entries()) {
      const from = runs[n - 1];
      if (from === undefined || from.host === to.host) continue;
      const answers = e.bmc.filter(
        (b) => b.host === from.host && b.op === 'get' && b.ns >= from.fromNs && b.ns < to.fromNs,
      );
      const proven = answers.some((b, k) => b.value === '0' && answers[k - 1]?.value === '0');
      // A later boot of the host is as good: the one that ran the workload has ended.
      const booted = e.boots.some((b) => b.host === from.host && b.ns > from.toNs && b.ns < to.fromNs);
      const wall = (ns: number): number => e.nowAt - (e.nowNs - ns) / 1e6;
      const byHand = e.incidents.some(
        ({ node, proof }) =>
          node === e.nodeOf[from.host] &&
          proof?.kind === 'manual' &&
          proof.at >= wall(from.fromNs) &&
          proof.at <= wall(to.fromNs),
      );
      const leftByStop = e.jobs.some((j) =>
        hasStopped(j, h.workload, e.nodeOf[from.host], wall(from.fromNs), wall(to.fromNs)),
      );
      if (!proven && !booted && !byHand && !leftByStop)
        out.push({
          kind: 'STARTED_BEFORE_PROOF',
          subject: h.workload,
          detail: `started on ${to.host} while ${from.host} was not proven off, and it was not stopped there`,
        });
    }
  }
  return out;
}

/** Between these wall-clock times the job has read back on the node that nothing of the workload runs. */
function hasStopped(j: JobRecord, workload: string, node: string | undefined, from: number, to: number): boolean {
  const isStop = j.recover?.some((t) => t.workload === workload && t.stop === true) === true;
  const endedAt = j.endedAt ?? 0;
  return (
    isStop &&
    node !== undefined &&
    j.results[node]?.workloads?.[workload]?.stopped === true &&
    endedAt >= from &&
    endedAt <= to
  );
}

function incidentChecks(e: Evidence): Violation[] {
  const out: Violation[] = [];
  const open = latest(e.incidents).filter(isOpenIncident);
  for (const node of new Set(open.map((i) => i.node))) {
    const ids = open.filter((i) => i.node === node).map((i) => i.id);
    if (ids.length > 1) out.push({ kind: 'TWO_OPEN_INCIDENTS', subject: node, detail: ids.join(', ') });
  }
  for (const i of latest(e.incidents)) {
    for (const [n, c] of i.commands.entries()) {
      const before = i.commands[n - 1];
      if (before !== undefined && c.epoch < before.epoch)
        out.push({
          kind: 'EPOCH_WENT_BACK',
          subject: i.node,
          detail: `command ${c.n} has epoch ${c.epoch} after ${before.epoch}`,
        });
    }
  }
  return out;
}

/** Whose record has the intent: that of the node which the BMC was believed to be the device of. */
const orderedFor = (e: Evidence, write: BmcEntry): string | undefined => e.nodeOf[write.asked ?? write.host];

const wasCut = (e: Evidence, write: BmcEntry): boolean => write.at < (e.cutBefore[orderedFor(e, write) ?? ''] ?? 0);

const sentenceOf = (write: BmcEntry): string =>
  `${write.what} ${write.value} at ${new Date(write.at).toISOString()} has no intent`;

/** Every power write that a BMC saw must have its own intent, written before it arrived; operators' lab commands do not pass the BMC. */
const intentChecks = (e: Evidence): Violation[] =>
  unintended(e)
    .filter((write) => !wasCut(e, write))
    .map((write) => ({ kind: 'BMC_WRITE_WITHOUT_INTENT', subject: write.host, detail: sentenceOf(write) }));

/** Writes whose intents may have been among the revisions that the store no longer has: nothing can be said of them. */
export const unjudged = (e: Evidence): string[] =>
  unintended(e)
    .filter((write) => wasCut(e, write))
    .map((write) => `${write.host}: ${sentenceOf(write)} that the store still has`);

function unintended(e: Evidence): BmcEntry[] {
  const left = intents(e).filter((c) => c.verb !== 'status');
  const out: BmcEntry[] = [];
  for (const write of e.bmc.filter((b) => b.op === 'set')) {
    const verb = write.what === 'shutdown' ? 'soft' : write.value === '1' ? 'on' : 'off';
    const node = orderedFor(e, write);
    const at = left.findIndex(
      (c) => c.node === node && c.verb === verb && c.at <= write.at + 50 && write.at - c.at < INTENT_WINDOW_MS,
    );
    if (at < 0) out.push(write);
    else left.splice(at, 1);
  }
  return out;
}

function leftoverChecks(e: Evidence): Violation[] {
  const out: Violation[] = [];
  const live = new Set(e.jobs.filter((j) => !isSettledJob(j)).map((j) => j.id));
  for (const [node, held] of Object.entries(e.reservations.held))
    if (held.job !== undefined && !live.has(held.job))
      out.push({ kind: 'RESERVATION_LEFT', subject: node, detail: `held by job ${held.job}, which has ended` });
  for (const n of e.nodes)
    if (['Provisioning', 'Cancelled', 'Maintenance'].includes(n.status)) {
      const job = e.reservations.held[n.name]?.job;
      if (job === undefined || !live.has(job))
        out.push({ kind: 'TRANSIENT_STATUS_LEFT', subject: n.name, detail: `is ${n.status} and no job works on it` });
    }
  for (const p of e.leaked) out.push({ kind: 'PROCESS_LEAKED', subject: p.split(' ')[0] ?? p, detail: p });
  for (const s of e.secretsIn) out.push({ kind: 'SECRET_SHOWN', subject: s, detail: `a secret stands in ${s}` });
  return out;
}

/** The list that holds after every scenario. */
export const findViolations = (e: Evidence): Violation[] => [
  ...workloadChecks(e),
  ...proofChecks(e),
  ...incidentChecks(e),
  ...intentChecks(e),
  ...leftoverChecks(e),
];
