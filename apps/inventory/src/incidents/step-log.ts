import type { IncidentPhase, IncidentRecord, IncidentStep } from '#contracts';

/** What somebody wants to know who reads nothing but warnings: a node is taken out, or could not be. */
const LOUD: readonly IncidentPhase[] = ['open', 'fencing', 'fenced', 'suppressed', 'failed', 'survived'];

/** The level at which a step of an incident is logged. */
export const stepLevel = (phase: IncidentPhase): 'warn' | 'info' => (LOUD.includes(phase) ? 'warn' : 'info');

/** The node first: that is what is searched for. */
export const stepLine = (i: Pick<IncidentRecord, 'node'>, step: IncidentStep): string =>
  `${i.node}: incident ${step.phase}${step.detail === '' ? '' : `: ${step.detail}`}`;
