import type { JobRecord, NodeProgress, NodeResult } from '#contracts';
import type { Colour } from '../output/terminal.js';

/** How far a job is on one node, or on one address of a discover. */
export interface NodeLine {
  node: string;
  text: string;
  /** `waiting` is nothing to tell where only changes are told. */
  phase: 'failed' | 'running' | 'waiting' | 'ok';
}

export const phaseColours: Record<NodeLine['phase'], Colour> = {
  failed: 'red',
  running: 'cyan',
  waiting: 'dim',
  ok: 'green',
};

/** One line per node of the job, in the job's order; who is found on the way comes behind. */
export function nodeLines(job: JobRecord): NodeLine[] {
  const progress = job.progress ?? {};
  const nodes = new Set([
    ...job.nodes,
    ...(job.addresses ?? []),
    ...Object.keys(progress),
    ...Object.keys(job.results),
  ]);
  return [...nodes].map((node) => ({ node, ...lineOf(job.results[node], progress[node]) }));
}

function lineOf(result: NodeResult | undefined, progress: NodeProgress | undefined): Omit<NodeLine, 'node'> {
  if (result !== undefined)
    return { text: resultText(result), phase: result.ok && checkFault(result) === undefined ? 'ok' : 'failed' };
  if (progress === undefined) return { text: 'waits', phase: 'waiting' };
  const tasks = progress.done === 0 ? '' : ` (${progress.done} done)`;
  return { text: `${progress.step}: ${progress.task}${tasks}`, phase: progress.failed ? 'failed' : 'running' };
}

/** What a check that was carried out holds against the node; undefined: nothing, or it was none. */
export function checkFault(result: NodeResult): string | undefined {
  if (!result.ok) return undefined;
  if (result.verdict !== undefined)
    return result.verdict.outcome === 'pass' ? undefined : `${result.verdict.outcome}: ${result.verdict.why}`;
  const bad = (result.check?.findings ?? []).filter((f) => f.result !== 'ok');
  if (bad.length === 0) return undefined;
  return `drift: ${bad.map((f) => `${f.service} ${f.result}${f.why === '' ? '' : ` (${f.why})`}`).join(', ')}`;
}

export function resultText(result: NodeResult): string {
  const fault = checkFault(result);
  if (fault !== undefined) return `${result.step}: ${fault}`.replaceAll('\n', ' ');
  if (result.ok) {
    const node = result.node === undefined ? '' : `: ${result.node}`;
    return `${result.step}: ok${node}${result.cleanupFailed === true ? ' (its cleanup failed)' : ''}`;
  }
  const why = [result.failedTask, result.message].filter((x) => x !== undefined && x !== '').join(': ');
  return `${result.step}: failed${why === '' ? '' : `: ${why}`}`.replaceAll('\n', ' ');
}

/** What the job as a whole does. */
export function jobText(job: JobRecord): string {
  if (job.status === 'Queued' && job.moving !== undefined && job.moving.length > 0)
    return `waits until workloads have left: ${job.moving.join(' ')}`;
  return job.status === 'Running' && job.task !== '' ? job.task : job.status;
}
