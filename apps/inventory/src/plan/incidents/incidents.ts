import type { IncidentRecord } from '#contracts';
import type { About } from '../../conductor/task.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Inquiry } from '../../snapshot/investigation.js';
import type { Concern, Since } from '../concern.js';
import { allIntents, eachMade, type Decided } from '../each-record.js';
import { AGAIN_MS, ageIn, suspects, type IncidentCondition } from './incident-facts.js';
import {
  agesAskedFor,
  agesOf,
  investigatedIntents,
  isIdentityWanted,
  assess,
  assessmentIntents,
  eachOpen,
  operatorCancelIntents,
} from './open-incidents.js';
import { awaitedBoots, closeForNext, openIncident, opening, openings } from './openings.js';

/** What was asked longer ago is no word for now, ms: it is asked anew. As a detector's beacon. */
const FOUND_FRESH_MS = 3_000;

/**
 * From a verdict DOWN to phase `fencing`, and what becomes of an incident until the power is proven off. What the records
 * alone say is planned at once; the rest when it is found out about its node, each node by itself.
 */
export const incidents: Concern<IncidentCondition> = {
  // What fails here fails in the plan as well, which tells of it.
  suspects: (fleet, since) => ({
    silent: suspects(fleet),
    identity: eachMade(dueOf(fleet, since), aboutIncident, (i) => {
      const node = isIdentityWanted(i) ? fleet.nodes.get(i.node)?.value : undefined;
      return node === undefined ? [] : [node];
    }).made,
  }),
  inquires: (fleet, since) => {
    const due = dueOf(fleet, since);
    const toOpen = eachMade(
      openings(fleet, ageIn(since.ages)),
      ({ node }) => ({ node: node.name }),
      ({ node, step, degraded }): Inquiry[] => (step === 'open' ? [{ node, cause: 'auto', degraded }] : []),
    );
    const open = eachMade(due, aboutIncident, (incident): Inquiry[] => {
      const assessment = assess(incident, fleet);
      return assessment.do === 'investigate' ? [{ node: assessment.node, cause: incident.cause, incident }] : [];
    });
    return {
      about: [...toOpen.made, ...open.made],
      marks: due.made.map((i) => markOf(i, fleet)),
      failed: [...toOpen.failed, ...open.failed],
    };
  },
  conditions: (fleet) => {
    const boots = awaitedBoots(fleet);
    const open = eachOpen(fleet, (i) => agesOf(i, fleet));
    return { holds: boots.made, unknown: open.made, failed: [...boots.failed, ...open.failed] };
  },
  plan: (fleet, ages) => {
    const toClose = openings(fleet, ageIn(ages));
    return [
      ...toClose.failed,
      ...toClose.made.flatMap(({ step, last }) => (step === 'close' && last !== undefined ? [closeForNext(last)] : [])),
      ...allIntents(eachOpen(fleet, (i) => assessmentIntents(i, assess(i, fleet)))),
      ...operatorCancelIntents(fleet),
    ];
  },
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
const dueOf = (fleet: Fleet, since: Since<IncidentCondition>): Decided<IncidentRecord> =>
  eachOpen(fleet, (i) => ((since.inquiredMs(markOf(i, fleet)) ?? Infinity) >= AGAIN_MS ? [i] : []));

const aboutIncident = ({ node }: IncidentRecord): About => ({ node });

const markOf = ({ id, node }: IncidentRecord, { incidents: all, nodes }: Fleet): string =>
  [id, all.get(node)?.revision, nodes.get(node)?.revision ?? 0].join('/');
