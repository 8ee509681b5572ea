import type { IncidentRecord, NodeRecord } from '#contracts';
import type { GateFacts } from '#domain/incident/gates.js';
import { isAfterOff } from '#domain/incident/phases.js';
import type { PermitDecision } from '#domain/incident/permits.js';
import type { PermitAt } from '#domain/incident/would-be-permits.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Investigation } from '../../snapshot/investigation.js';
import type { IncidentAge } from './incident-facts.js';
import { IDENTITY_PENDING, type IncidentStep } from './incident-step.js';
import { foreseen, assess, eachOpen, type IncidentAssessment } from './open-incidents.js';
import { openings, type Opening } from './openings.js';
import { withWouldBe, wouldBeGrants } from './would-be-grants.js';

/** What the next look does about an open incident. */
export interface IncidentView {
  incident: IncidentRecord;
  /** As if the mode were enforce; undefined: the step does not rest on them. */
  facts?: GateFacts;
  step: IncidentStep;
  /** In mode observe: what it would be if the mode were enforce. */
  enforced?: IncidentStep;
}

/** What the next look does about the dead. */
export interface IncidentViews {
  /** Of nodes that are DOWN as of now, or count as DOWN. */
  opening: readonly Pick<Opening, 'node' | 'step' | 'last'>[];
  /** Open, and not yet fenced. */
  open: readonly IncidentView[];
}

/**
 * The same as of now, by the ages of who acts.
 * @param o.found what was found out about those that are open
 * @param o.permit that an incident would get of those that stand: nothing is written
 */
export function incidentViews(
  fleet: Fleet,
  o: {
    age: IncidentAge;
    found: readonly Investigation[];
    permit: (i: IncidentRecord, node: NodeRecord) => PermitDecision;
  },
): IncidentViews {
  const storm = o.found.find((x) => x.gates.storm !== undefined)?.gates.storm;
  const isObserved = fleet.settings.fencing.mode === 'observe';
  const granted = isObserved && storm !== undefined ? wouldBeGrants(fleet, storm) : [];
  const byId = new Map(o.found.map((x) => [x.gates.incident?.id, x]));
  return {
    opening: openings(fleet, o.age).made,
    open: eachOpen(fleet, (incident): IncidentView[] => {
      if (isAfterOff(incident)) return [];
      const assessment = assess(incident, fleet);
      const x = byId.get(incident.id);
      if (assessment.do !== 'investigate') return assessmentView(incident, assessment);
      return x === undefined ? [] : [investigatedView(incident, x, { ...o, fleet, granted })];
    }).made,
  };
}

/** One of which nothing has to be found out; none: there is nothing to show. */
function assessmentView(incident: IncidentRecord, assessment: IncidentAssessment): IncidentView[] {
  if (assessment.do === 'end') return [{ incident, step: { do: 'end', reason: assessment.reason } }];
  if (assessment.do !== 'await-identity') return [];
  return [{ incident, step: { do: 'wait', by: 'identity', reason: IDENTITY_PENDING } }];
}

function investigatedView(
  incident: IncidentRecord,
  { gates: facts }: Pick<Investigation, 'gates'>,
  o: {
    fleet: Fleet;
    age: IncidentAge;
    permit: (i: IncidentRecord, node: NodeRecord) => PermitDecision;
    granted: readonly PermitAt[];
  },
): IncidentView {
  const { node, settings } = facts;
  const permit = (): PermitDecision => o.permit(incident, node);
  const by = (gates: GateFacts): IncidentStep => foreseen(incident, node, { gates }, { ...o, permit });
  if (settings?.fencing.mode !== 'observe') return { incident, facts, step: by(facts) };
  const enforced: GateFacts = {
    ...facts,
    settings: { ...settings, fencing: { ...settings.fencing, mode: 'enforce' } },
    storm: facts.storm && withWouldBe(facts.storm, incident.id, o.granted, o.fleet.wallMs),
  };
  return { incident, facts: enforced, step: by(facts), enforced: by(enforced) };
}
