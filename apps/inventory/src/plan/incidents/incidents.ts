import type { IncidentRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Inquiry } from '../../snapshot/investigation.js';
import type { Concern, Since } from '../concern.js';
import { AGAIN_MS, ageIn, suspects, type IncidentCondition } from './incident-facts.js';
import {
  agesAskedFor,
  agesOf,
  investigatedIntents,
  isIdentityWanted,
  assess,
  assessmentIntents,
  openIncidents,
  takenBackIntents,
} from './open-incidents.js';
import { awaitedBoots, closeForNext, openIncident, opening, openings } from './openings.js';

/** What was asked longer ago is no word for now, ms: it is asked anew. As a detector's beacon. */
export const FOUND_FRESH_MS = 3_000;

/**
 * From a verdict DOWN to phase `fencing`, and what becomes of an incident until the power is proven off. What the records
 * alone say is planned at once; the rest when it is found out about its node, each node by itself.
 */
export const incidents: Concern<IncidentCondition> = {
  suspects: (fleet, since) => ({
    silent: suspects(fleet),
    identity: dueOf(fleet, since)
      .filter(isIdentityWanted)
      .flatMap((i) => fleet.nodes.get(i.node)?.value ?? []),
  }),
  inquires: (fleet, since) => {
    const due = dueOf(fleet, since);
    return {
      about: [
        ...openings(fleet, ageIn(since.ages)).flatMap(({ node, step, degraded }): Inquiry[] =>
          step === 'open' ? [{ node, cause: 'auto', degraded }] : [],
        ),
        ...due.flatMap((incident): Inquiry[] => {
          const assessment = assess(incident, fleet);
          return assessment.do === 'investigate' ? [{ node: assessment.node, cause: incident.cause, incident }] : [];
        }),
      ],
      marks: due.map((i) => markOf(i, fleet)),
    };
  },
  conditions: (fleet) => ({ holds: awaitedBoots(fleet), unknown: openIncidents(fleet).flatMap(agesOf) }),
  plan: (fleet, ages) => [
    ...openings(fleet, ageIn(ages)).flatMap(({ step, last }) =>
      step === 'close' && last !== undefined ? [closeForNext(last)] : [],
    ),
    ...openIncidents(fleet).flatMap((i) => assessmentIntents(i, assess(i, fleet))),
    ...takenBackIntents(fleet),
  ],
  holdsBy: (x, fleet) => {
    const { incident, node } = x.gates;
    return incident === undefined ? [] : agesAskedFor(incident, node, x, fleet);
  },
  found: (x, fleet, ages) => {
    if (x.askedAgo > FOUND_FRESH_MS) return [];
    const { incident, node, degraded } = x.gates;
    return incident === undefined
      ? openIncident(opening(node, degraded === true, fleet, ageIn(ages)), x, fleet, ageIn(ages))
      : investigatedIntents(incident, node, x, fleet, ageIn(ages));
  },
};

/** Rounds come with every change of any record: an incident is looked into when it or its node has changed, or after a while. */
const dueOf = (fleet: Fleet, since: Since<IncidentCondition>): IncidentRecord[] =>
  openIncidents(fleet).filter((i) => (since.inquiredMs(markOf(i, fleet)) ?? Infinity) >= AGAIN_MS);

const markOf = ({ id, node }: IncidentRecord, { incidents: all, nodes }: Fleet): string =>
  [id, all.get(node)?.revision, nodes.get(node)?.revision ?? 0].join('/');
