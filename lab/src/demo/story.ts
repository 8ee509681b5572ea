import type { WorkloadHistory } from '../audit/ledger.js';
import type { Violation } from '../audit/checks.js';

/** Steps of the first act, in the order in which they must come. */
export const Steps = [
  'killed',
  'suspect',
  'down',
  'off_sent',
  'off_confirmed',
  'workloads_running',
  'booted',
  'check_passed',
  'check_failed',
  'resetup_done',
  'in_service',
] as const;
export type Step = (typeof Steps)[number];

export interface Act2 {
  cut_ms: number;
  degraded: boolean;
  off_commands: number;
  check: 'pass' | 'fail' | 'none';
  files_changed: string[];
  processes_restarted: string[];
}

/** What `npm run -s demo -- --json` prints as its last line. */
export interface DemoResult {
  ok: boolean;
  mode: 'netns' | 'loopback';
  seed: number;
  nodes: number;
  /** It ran on a Muster that the lab did not start, which may have services of its own for its nodes, or none. */
  external: boolean;
  timeline: { event: Step; ms: number }[];
  workloads: { name: string; from: string; to: string; gap_ms: number; overlap_ms: number }[];
  bmc: { off_commands: number };
  act2: Act2 | null;
  /** Null: it could not be made, without the users of the installation. */
  audit: { ok: boolean; violations: Violation[] } | null;
  /** What was seen that must not be, or was missed; empty when ok. */
  deviations: string[];
}

/** What has been seen so far. */
export type Seen = Omit<DemoResult, 'ok' | 'deviations'>;

/** Goals for a quiet machine, ms from death: printed, and no more. */
export const Goals: Partial<Record<Step, number>> = { down: 4000, off_confirmed: 5500, workloads_running: 8000 };

/** The mission's bounds: missing one is a deviation. */
const Bounds: Partial<Record<Step, number>> = { down: 4000, workloads_running: 60_000 };

/** The lab's own services are not there after a boot, so the check fails; others may be. */
const wantedSteps = (checkPassed: boolean): Step[] => {
  const others: Step[] = checkPassed ? ['check_failed', 'resetup_done'] : ['check_passed'];
  return Steps.filter((step) => !others.includes(step));
};

/** Everything that makes a demo fail, from what was seen. Pure. */
export function deviations(r: Seen): string[] {
  const out: string[] = [];
  const at = new Map(r.timeline.map((t) => [t.event, t.ms]));
  for (const step of wantedSteps(r.external && at.has('check_passed')))
    if (!at.has(step)) out.push(`${step} was not seen`);
  for (const [step, bound] of Object.entries(Bounds)) {
    const ms = at.get(step as Step);
    if (ms !== undefined && ms > bound) out.push(`${step} came after ${Math.round(ms)} ms, the bound is ${bound} ms`);
  }
  for (const [n, step] of Steps.entries()) {
    const before = Steps[n - 1];
    const [a, b] = [before && at.get(before), at.get(step)];
    if (a !== undefined && b !== undefined && b < a) out.push(`${step} came before ${before}`);
  }
  if (r.bmc.off_commands !== 1) out.push(`${r.bmc.off_commands} off commands instead of one`);
  if (r.workloads.length === 0) out.push('no workload was moved');
  for (const w of r.workloads) {
    if (w.overlap_ms > 0) out.push(`${w.name} ran twice at once for ${w.overlap_ms.toFixed(0)} ms`);
    if (w.to === w.from) out.push(`${w.name} was started on the dead host`);
  }
  if (r.act2 !== null) {
    if (!r.act2.degraded) out.push('the cut network was not seen as DEGRADED');
    if (r.act2.off_commands > 0) out.push(`${r.act2.off_commands} power commands for a cut network`);
    if (r.act2.check !== 'pass') out.push(`the check after the cut: ${r.act2.check}`);
    for (const f of r.act2.files_changed) out.push(`changed on the node that was only cut off: ${f}`);
    for (const p of r.act2.processes_restarted) out.push(`restarted on the node that was only cut off: ${p}`);
  }
  if (r.audit === null) return r.external ? out : [...out, 'no audit was made'];
  for (const v of r.audit.violations) out.push(`audit: ${v.kind} ${v.subject}: ${v.detail}`);
  if (!r.audit.ok && r.audit.violations.length === 0) out.push('the audit failed without naming a violation');
  return out;
}

/** Where a workload went, by the ledger alone. */
export function moveOf(h: WorkloadHistory, from: string, deathNs: number): DemoResult['workloads'][number] | undefined {
  const before = h.runs.filter((r) => r.host === from && r.fromNs < deathNs).at(-1);
  const after = h.runs.find((r) => r.fromNs > deathNs);
  if (before === undefined || after === undefined) return undefined;
  return {
    name: h.workload,
    from,
    to: after.host,
    gap_ms: Math.round((after.fromNs - before.toNs) / 1e6),
    overlap_ms: Math.round(h.longestOverlapMs),
  };
}
