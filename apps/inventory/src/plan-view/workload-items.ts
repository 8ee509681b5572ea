import type { PlanAgain, PlanItem, WorkloadRecord } from '#contracts';
import { failedStop } from '#domain/workload/failed-tries.js';
import { PERIOD_MS } from '../conductor/task.js';
import type { StopView } from '../plan/workloads/stops.js';
import type { StartStep } from '../plan/workloads/start-steps.js';
import type { ItemText, PlanFacts } from './plan-facts.js';

/** Workloads that are not as they should be. */
export function workloadItems(f: PlanFacts): PlanItem[] {
  return [
    ...f.workloads.map((p) => item(p.workload, startText(p), p.to)),
    ...f.stops.map((s) => item(s.workload, stopText(s))),
    ...f.absences.map(({ workload, leftMs }) =>
      item(workload, {
        does: leftMs === 0 ? 'acts' : 'waits',
        next: `is started again on ${workload.assignment?.node ?? '?'}`,
        reason: 'It has ended there by itself.',
        again: { inMs: leftMs === 0 ? PERIOD_MS : leftMs, when: 'its node reports it' },
      }),
    ),
  ];
}

const item = (w: WorkloadRecord, said: ItemText, to?: string): PlanItem => ({
  about: 'workload',
  name: w.name,
  nodes: [...new Set([w.assignment?.node, to].filter((n) => n !== undefined))],
  ...said,
});

const soon: PlanAgain = { inMs: PERIOD_MS };

function startText({ workload: w, do: does, to, why, leftMs }: StartStep): ItemText {
  const at = w.assignment?.node ?? 'a node';
  const acts = (next: string): ItemText => ({ does: 'acts', next, reason: why, again: soon });
  const waits = (next: string, when: string): ItemText => ({
    does: 'waits',
    next,
    reason: why,
    again: { ...(leftMs !== undefined && { inMs: leftMs }), when },
  });
  switch (does) {
    case 'place':
      return acts(`is assigned to ${to}`);
    case 'start':
      return acts(`is started on ${to}`);
    case 'correct':
      return acts('is assigned to where it runs');
    case 'elsewhere':
      return to === undefined
        ? waits(`is started elsewhere than on ${at}`, 'a node has room for it')
        : acts(`is started on ${to} and not on ${at}`);
    case 'no-room':
      return waits('is assigned to a node', 'a node in service has room for it');
    case 'follow':
      return waits(`runs on ${at}`, 'the job has ended, or its node reports it');
    case 'hold':
      return waits('is held', 'what it is held for has changed');
    case 'wait':
      return waits(`is started on ${at}`, 'that has changed');
  }
}

function stopText({ workload: w, step, leftMs, isSilent }: StopView): ItemText {
  const at = w.assignment?.node ?? '?';
  const why = w.move === undefined ? 'It shall not run.' : `It is to move to ${w.move.to}.`;
  const silence = isSilent ? `${at} is silent: nothing counts as stopped there until it speaks, or is proven off.` : [];
  const reason = [why, failedStop(w) ?? [], silence].flat().join(' ');
  const acts = (next: string): ItemText => ({ does: 'acts', next, reason, again: soon });
  switch (step) {
    case 'owe':
    case 'give':
      return acts(`is stopped on ${at}`);
    case 'read-back':
      return acts(`is noted as stopped on ${at}`);
    case 'follow':
      return { does: 'waits', next: `is stopped on ${at}`, reason, again: { when: 'its job has ended' } };
    case 'wait':
    case 'done':
      return {
        does: 'waits',
        next: `is stopped on ${at}`,
        reason,
        again: leftMs > 0 ? { inMs: leftMs } : { when: `${at} reports, or is fenced` },
      };
  }
}
