import { MusterError, type IncidentPhase, type IncidentRecord, type IncidentStep } from '#contracts';
import { withoutOrder } from './pending-order.js';
import { mayGo, wasCommanded, type PhaseWriter } from './phases.js';

/** Steps kept in the record; a node that fails for weeks must not grow its incident without end. */
export const MOST_STEPS = 200;

const withStep = (steps: IncidentStep[], step: IncidentStep): IncidentStep[] => {
  const all = [...steps, step];
  // The first steps tell how it began: the middle is what goes.
  return all.length <= MOST_STEPS ? all : [...all.slice(0, 20), ...all.slice(all.length - (MOST_STEPS - 20))];
};

/**
 * The incident in its next phase.
 * @param at wall clock, for people
 * @param by the service that writes it. @default 'inventory'
 * @throws MusterError INCIDENT_STATE where the phase cannot follow, or is another service's to write
 */
export function go(
  i: IncidentRecord,
  to: IncidentPhase,
  detail: string,
  at: number,
  by: PhaseWriter = 'inventory',
): IncidentRecord {
  if (!mayGo(i, to, by))
    throw new MusterError(
      'INCIDENT_STATE',
      `The incident of ${i.node} is ${i.phase}${wasCommanded(i) ? ' and a power-off was ordered' : ''}: it cannot become ${to}.`,
      { node: i.node, incident: i.id, phase: i.phase, to },
    );
  const moved: IncidentRecord = { ...i, phase: to, updatedAt: at, steps: withStep(i.steps, { phase: to, at, detail }) };
  if (to !== 'suppressed') delete moved.gate;
  if (to === 'fencing') {
    delete moved.retryAt;
    delete moved.lacking;
  }
  // The second half of a cycle, without the first: whoever cancelled it may have opened the machine.
  return to === 'cancelled' ? withoutOrder(moved, 'The incident was cancelled.') : moved;
}

/** Ordered off, since its gates pass. By asking them an `open` one was investigated, which it has to be before. */
export function orderedOff(i: IncidentRecord, detail: string, at: number): IncidentRecord {
  const asked = i.phase === 'open' ? go(i, 'investigating', 'Its gates were asked.', at) : i;
  return go(asked, 'fencing', detail, at);
}

/** A step that tells more of the same phase. */
export const note = (i: IncidentRecord, detail: string, at: number): IncidentRecord => ({
  ...i,
  updatedAt: at,
  steps: withStep(i.steps, { phase: i.phase, at, detail }),
});
