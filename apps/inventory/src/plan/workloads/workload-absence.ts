import type { IncidentPhase, NodeRecord, Report, WorkloadRecord } from '#contracts';
import { quietPhases } from '#domain/incident/phases.js';
import { retryDelayMs, type RetryPolicy } from '#domain/retry/retry-policy.js';
import { answersForItsWork as lives } from '#domain/verdict/heard.js';

/** Left out of every fresh report for this long, a workload has ended, ms: no look at it can be of before its start. */
export const ABSENT_MS = 10_000;
/** Before it is started again, after it has ended again and again. */
const RESTART: RetryPolicy = { firstMs: ABSENT_MS, growth: 2, mostMs: 300_000 };
/** It has ended so often in a row: somebody is told. */
const ENDS_ALARM = 3;
/** Reported as being started for this long without ever running: somebody is told, ms. */
export const STARTING_ALARM_MS = 60_000;
/** It runs for this long, ms: how often it has ended before is forgotten. */
export const STEADY_MS = 600_000;

/**
 * What the node of a workload says of it, where nothing is owed. `unknown`: its word is missing or stale, or something
 * else decides (an order, an incident, a reboot, an operator).
 */
export type Presence = 'runs' | 'starting' | 'absent' | 'unknown';

export interface PresenceFacts {
  workload: WorkloadRecord;
  /** The record of the node that it is assigned to. */
  node: NodeRecord | undefined;
  /** Phase of that node's incident, if it has one. */
  incident: IncidentPhase | undefined;
  /** That node's own fresh report; undefined: it is silent. */
  report: Pick<Report, 'bootId' | 'workloads'> | undefined;
}

export function presenceOf({ workload: w, node, incident, report }: PresenceFacts): Presence {
  if (w.desired !== 'running' || w.assignment === undefined) return 'unknown';
  if (w.start !== undefined || w.stop !== undefined || w.move !== undefined) return 'unknown';
  if (node === undefined || !lives(node) || (incident !== undefined && !quietPhases.includes(incident)))
    return 'unknown';
  if (report?.workloads === undefined || report.bootId !== node.bootId) return 'unknown';
  const run = report.workloads.find((r) => r.name === w.name);
  if (run !== undefined) return run.starting === true ? 'starting' : 'runs';
  // Of another boot than that in which it ran here: it was lost with the reboot.
  return w.boot === undefined || w.boot === report.bootId ? 'absent' : 'unknown';
}

/** How long it has to be absent before it is started again, ms: twice as long with each time that it has ended. */
export const restartAfterMs = (ended: number): number => retryDelayMs(RESTART, ended + 1);

/** Until one that has ended by itself is started again, ms; undefined: it is not absent. */
export const restartLeftMs = (w: WorkloadRecord, presence: Presence, forMs: number): number | undefined =>
  presence === 'absent' ? Math.max(0, restartAfterMs(w.ended?.times ?? 0) - forMs) : undefined;

/** Does it matter for how long it has been so? Of nearly all workloads it does not: they run, and never ended. */
export const isTimed = (w: WorkloadRecord, presence: Presence): boolean =>
  presence === 'absent' || presence === 'starting' || (presence === 'runs' && w.ended !== undefined);

/** What is to be done about a workload. `owe`: its start is owed again, where it is assigned. `forget`: it runs steadily. */
export type AbsenceStep = 'none' | 'owe' | 'forget';

/** @param forMs for which it has been so without a break, in one start of its node's agent, on the asker's own clock; any where it is not {@link isTimed} */
export function absenceStep(w: WorkloadRecord, presence: Presence, forMs: number): AbsenceStep {
  const leftMs = restartLeftMs(w, presence, forMs);
  if (leftMs !== undefined) return leftMs === 0 ? 'owe' : 'none';
  return presence === 'runs' && w.ended !== undefined && forMs >= STEADY_MS ? 'forget' : 'none';
}

/** What somebody must be told of it; undefined: nothing. Told once, it stays told until it runs steadily or is moved. */
export function absenceAlarm(w: WorkloadRecord, presence: Presence, forMs: number): string | undefined {
  const node = w.assignment?.node ?? '?';
  if (presence === 'starting' && forMs >= STARTING_ALARM_MS)
    return `It has been starting on ${node} for a minute, and does not run: its start gate or its unit refuses it each time. ${LOOK}`;
  const times = w.ended?.times ?? 0;
  if (w.assignment === undefined || times < ENDS_ALARM) return undefined;
  const waitS = restartAfterMs(times) / 1000;
  return `It has ended by itself ${times} times in a row on ${node}. It is started again there, when it has been gone for ${waitS} s. ${LOOK}`;
}

const LOOK = 'Look at the log of its unit there; what shall not run is set to "desired": "stopped".';
