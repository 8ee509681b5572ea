import type { JobKind, NodeResult } from '#contracts';
import type { Step } from '../ansible/ansible-events.js';
import { nextOfTest } from './service-test-plan.js';
import type { NextStep, PipelineInput, StepDone } from './step-order.js';

const first: Record<JobKind, Step> = {
  commission: 'site',
  decommission: 'cleanup',
  maintenance: 'cleanup',
  resetup: 'cleanup',
  check: 'check',
  recover: 'recover',
  discover: 'discover',
  'service-test': 'service-test',
};

/**
 * What comes next, from what has been run so far:
 *
 * - commission: site; where it fails on one node, cleanup on *all* nodes, then Errored
 * - decommission: cleanup, best effort
 * - maintenance: cleanup, then site; any failure ends it
 * - resetup: the same, each node for itself
 * - discover: discover, then install on every address that could be looked at
 * - check, recover: their one step
 * - service-test: its parts, see {@link nextOfTest}
 */
export function nextStep(input: PipelineInput): NextStep {
  const { kind, done } = input;
  if (kind === 'service-test') return nextOfTest(input);
  const last = done.at(-1);
  if (last === undefined) {
    if (input.ending !== undefined && !(input.resumed && kind === 'commission')) return errored(input, {});
    // Cancelled, then cut off: what it had set up must go.
    if (input.ending !== undefined) return { run: 'cleanup', nodes: [...input.nodes], cancellable: false };
    return { run: first[kind], nodes: [...input.nodes], cancellable: true };
  }
  const bad = failedIn(last.results);
  const stopped = last.cancelled || input.ending !== undefined;
  switch (kind) {
    case 'commission':
      if (last.step === 'cleanup') return errored(input, rolledBack(done));
      if (bad.length === 0 && !last.cancelled) return complete(last.results);
      // Not to be cancelled: without it nodes would stay half set up, and free for another request.
      return { run: 'cleanup', nodes: [...input.nodes], cancellable: false };
    case 'decommission':
      return decommissioned(input, last.results);
    case 'maintenance':
      if (bad.length > 0 || (last.step === 'cleanup' && stopped)) return errored(input, last.results);
      if (last.step === 'cleanup') return { run: 'site', nodes: [...input.nodes], cancellable: true };
      return last.cancelled ? errored(input, last.results) : complete(last.results);
    case 'resetup': {
      const results = Object.assign({}, ...done.map((d) => d.results)) as Record<string, NodeResult>;
      const good = input.nodes.filter((n) => last.results[n]?.ok === true);
      if (last.step === 'cleanup' && good.length > 0 && !stopped)
        return { run: 'site', nodes: good, cancellable: true };
      return failedIn(results).length > 0 || last.cancelled || last.step === 'cleanup'
        ? errored(input, results)
        : complete(results);
    }
    case 'discover': {
      const good = input.nodes.filter((n) => last.results[n]?.ok === true);
      if (last.step === 'discover' && good.length > 0 && !stopped)
        return { run: 'install', nodes: good, cancellable: true };
      const results = Object.assign({}, ...done.map((d) => d.results)) as Record<string, NodeResult>;
      return failedIn(results).length > 0 || last.cancelled || last.step === 'discover'
        ? errored(input, results)
        : complete(results);
    }
    case 'check':
    case 'recover':
      return bad.length > 0 || last.cancelled ? errored(input, last.results) : complete(last.results);
  }
}

const failedIn = (results: Record<string, NodeResult>): string[] =>
  Object.keys(results).filter((n) => results[n]?.ok !== true);

const complete = (results: Record<string, NodeResult>): NextStep => ({ end: 'Complete', error: '', results });

function errored(input: PipelineInput, results: Record<string, NodeResult>): NextStep {
  const why = input.ending ?? failure(input.done);
  const all = Object.fromEntries(
    input.nodes.map((n): [string, NodeResult] => {
      const r = results[n] ?? { ok: false, step: first[input.kind], message: why };
      return [n, r.ok && isHalf(r.step, input.kind) ? { ...r, ok: false, message: `${halfDone[r.step]}: ${why}` } : r];
    }),
  );
  return { end: 'Errored', error: why, results: all };
}

/** What a node is after a first step, where the one that was to follow has not been run: not ready, whatever else. */
const halfDone: Partial<Record<string, string>> = {
  cleanup: 'cleaned up and not set up again',
  discover: 'looked at, and nothing done',
};
const isHalf = (step: string, kind: JobKind): boolean => step in halfDone && kind !== 'decommission';

/** Why the job failed: the first step that did not work, each of its nodes once. */
function failure(done: readonly StepDone[]): string {
  for (const { step, results } of done) {
    const bad = failedIn(results);
    if (bad.length === 0) continue;
    const named = bad.slice(0, 5).map((n) => {
      const r = results[n];
      const task = r?.failedTask === undefined ? '' : `task "${r.failedTask}": `;
      return `${n} (${task}${oneLine(r?.message ?? '')})`;
    });
    return `${step} failed on ${named.join(', ')}${bad.length > 5 ? ` and ${bad.length - 5} more` : ''}`;
  }
  return 'failed';
}

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
};

/** After a failed commission nothing of it stays: the node that was set up well is cleaned up with the others. */
function rolledBack(done: readonly StepDone[]): Record<string, NodeResult> {
  const site = done.find((d) => d.step === 'site')?.results ?? {};
  const cleanup = done.find((d) => d.step === 'cleanup')?.results ?? {};
  const bad = failedIn(site);
  const begun = Object.keys(site).length > 0 ? site : cleanup;
  return Object.fromEntries(
    Object.entries(begun).map(([node, r]) => {
      const { checksum: _gone, ...rest } = r;
      const result: NodeResult = r.ok
        ? {
            ...rest,
            ok: false,
            step: 'cleanup',
            message: bad.length > 0 ? `cleaned up: site failed on ${bad.join(', ')}` : 'cleaned up',
          }
        : rest;
      return [node, { ...result, ...(cleanup[node]?.ok === true ? {} : { cleanupFailed: true }) }];
    }),
  );
}

/** A node whose cleanup failed is let go all the same; its result says so, and the job ends in error. */
function decommissioned(input: PipelineInput, results: Record<string, NodeResult>): NextStep {
  const all = Object.fromEntries(
    input.nodes.map((n): [string, NodeResult] => {
      const r = results[n] ?? { ok: false, step: 'cleanup', message: 'not cleaned up' };
      return [n, r.ok ? r : { ...r, cleanupFailed: true }];
    }),
  );
  return input.ending === undefined && failedIn(all).length === 0 ? complete(all) : errored(input, all);
}

/** Longest time of a step, ms: no run hangs for ever. A recovery must be given up while another try still helps. */
export const STEP_LIMIT_MS: Record<Step, number> = {
  site: 3_600_000,
  cleanup: 1_800_000,
  check: 300_000,
  recover: 30_000,
  discover: 300_000,
  install: 900_000,
  release: 15_000,
  'service-test': 3_600_000,
};
