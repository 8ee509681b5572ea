import { stepText, type GateCode, type IncidentPhase, type IncidentStep } from '#contracts';

/** What somebody wants to know who reads nothing but warnings: a node is taken out, or could not be. */
const LOUD: readonly IncidentPhase[] = ['open', 'fencing', 'fenced', 'suppressed', 'failed', 'survived'];

/** The level at which a step of an incident is logged. */
export const stepLevel = (phase: IncidentPhase): 'warn' | 'info' => (LOUD.includes(phase) ? 'warn' : 'info');

/** The node first: that is what is searched for. */
export const stepLine = (i: { node: string; gate?: GateCode | undefined }, step: IncidentStep): string =>
  `${i.node}: incident ${stepText({ ...step, gate: step.phase === 'suppressed' ? i.gate : undefined })}`;
