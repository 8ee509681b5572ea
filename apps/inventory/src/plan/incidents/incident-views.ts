import type { IncidentRecord } from '#contracts';
import type { GateFacts } from '#domain/incident/gates.js';
import { isAfterOff } from '#domain/incident/phases.js';
import type { PermitDecision } from '#domain/incident/permits.js';
import type { IncidentAge, IncidentFacts, Investigation } from './incident-facts.js';
import type { IncidentStep } from './incident-step.js';
import { foreseen, openIncidents, type IncidentLook } from './open-incidents.js';
import type { Opening } from './openings.js';

/** What the next look does about an open incident. */
export interface IncidentView {
  incident: IncidentRecord;
  /** Undefined: the step does not rest on them. */
  facts?: GateFacts;
  step: IncidentStep;
  /** In mode observe: what it would be if the mode were enforce. */
  enforced?: IncidentStep;
}

/** What the next look does about the dead. */
export interface IncidentViews {
  /** Of nodes that are DOWN as of now, or count as DOWN. */
  opening: Pick<Opening, 'node' | 'step' | 'last'>[];
  /** Open, and not yet fenced. */
  open: IncidentView[];
}

/** Those that are shown. */
export const unfenced = (f: IncidentFacts): IncidentRecord[] => openIncidents(f).filter((i) => !isAfterOff(i));

/** One of which nothing has to be found out; undefined: there is nothing to show. */
export function lookView(incident: IncidentRecord, look: IncidentLook): IncidentView | undefined {
  if (look.do === 'end') return { incident, step: { do: 'end', reason: look.reason } };
  if (look.do !== 'await-identity') return undefined;
  return { incident, step: { do: 'wait', by: 'identity', reason: 'Whose its power devices are is being read.' } };
}

/** @param o.permit that it would get of those that stand: nothing is written */
export function investigatedView(
  incident: IncidentRecord,
  { gates: facts }: Pick<Investigation, 'gates'>,
  o: { facts: IncidentFacts; age: IncidentAge; permit: () => PermitDecision },
): IncidentView {
  const by = (gates: GateFacts): IncidentStep => foreseen(incident, gates.node, { gates }, o);
  const { settings } = facts;
  if (settings?.fencing.mode !== 'observe') return { incident, facts, step: by(facts) };
  const enforced: GateFacts = {
    ...facts,
    settings: { ...settings, fencing: { ...settings.fencing, mode: 'enforce' } },
  };
  return { incident, facts, step: by(facts), enforced: by(enforced) };
}
