import type { NodeRecord, Report, WorkloadRecord } from '#contracts';
import type { WorkThere } from '#domain/return/return-table.js';
import { PUT } from '#domain/workload/causes.js';
import { isStopped } from '#domain/workload/owed-start.js';

/** A look at what a node runs may be this old when it is reported, ms. */
const OLDEST_LOOK_MS = 5_000;
/** Rounds and watches between a write that shuts the start gate and the gate's answer, ms. */
const MARGIN_MS = 500;

/** What is known of the work on a node that is to be cleaned up. Its start gate is shut: it has returned. */
export interface WorkFacts {
  node: Pick<NodeRecord, 'enrolled' | 'bootId'>;
  /** What the registry assigns to it. */
  assigned: readonly WorkloadRecord[];
  /** Its own fresh report; undefined: it is silent, or has no agent. */
  report: Pick<Report, 'bootId' | 'workloads'> | undefined;
  /** ms, on the asker's own clock, for which all its reports in this boot have named nothing. */
  emptyForMs: number;
  /** Age at which a report counts as stale, ms. */
  freshness: number;
}

/**
 * Does anything run there that a cleanup would end? The node's own word decides: what it names runs, whoever it is
 * assigned to; what it leaves out does not, once no look is left that could be of before its gate was shut.
 */
export function workThere(f: WorkFacts): WorkThere {
  const { node, assigned, report } = f;
  const named = report?.workloads ?? [];
  const running = named.filter((w) => w.starting !== true).map((w) => w.name);
  if (running.length > 0) return { kind: 'runs', workloads: running.sort() };
  const expected = assigned.filter((w) => !isStopped(w));
  if (expected.length === 0) return { kind: 'none' };
  const unseen = node.enrolled ? expected.filter((w) => !wouldBeNamed(w)) : expected;
  if (unseen.length > 0) return { kind: 'runs', workloads: unseen.map((w) => w.name).sort() };
  if (report?.workloads === undefined) return { kind: 'unknown', why: 'it does not say what it runs' };
  if (report.bootId !== node.bootId) return { kind: 'unknown', why: 'it speaks of a boot that is not known yet' };
  if (named.length > 0)
    return { kind: 'unknown', why: `${named.map((w) => w.name).join(', ')} is being started there` };
  if (f.emptyForMs < OLDEST_LOOK_MS + f.freshness + MARGIN_MS)
    return { kind: 'unknown', why: 'its reports have named nothing for a moment only' };
  return { kind: 'none' };
}

/** It was reported, or is started by us. Where an operator only said that it runs there, its lister may not know it. */
const wouldBeNamed = (w: WorkloadRecord): boolean =>
  w.boot !== undefined || (w.start !== undefined && w.start.cause !== PUT);
