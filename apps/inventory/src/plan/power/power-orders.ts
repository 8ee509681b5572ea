import type { IncidentRecord, PowerOrder } from '#contracts';
import { isOrderDue } from '#domain/incident/pending-order.js';
import { lapsed, overtaken } from '#domain/power/power-order.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { eachRecord, type Decided } from '../each-record.js';
import type { ChangeIncident } from '../intent.js';

/** An order that nobody has carried out by then is void, ms: it must not take effect when a fencer starts hours later. */
export const SWITCHING_LAPSES_MS = 120_000;

/** Incident, and when its order was given: another one has its time anew. */
type OrderCondition = `${string}/${number}`;

interface Waiting {
  incident: IncidentRecord;
  order: PowerOrder;
  condition: OrderCondition;
}

/** Ends orders to power devices that no fencer carries out, and those that would not be taken any more. */
export const powerOrders: Concern<OrderCondition> = {
  conditions: (fleet) => ({ holds: waiting(fleet).made.map((w) => w.condition) }),
  plan: (fleet, ages) => {
    const { made, failed } = waiting(fleet);
    const late = made.filter((w) => ages.of(w.condition) >= SWITCHING_LAPSES_MS);
    return [...failed, ...late.map(end), ...made.flatMap((w) => endOvertaken(fleet, w))];
  },
};

const waiting = perFleet(({ incidents }: Fleet): Decided<Waiting> =>
  eachRecord(
    incidents.list,
    ({ key: node }) => ({ node }),
    ({ value: incident }): Waiting[] => {
      const { id, order } = incident;
      return order !== undefined && isOrderDue(incident) ? [{ incident, order, condition: `${id}/${order.at}` }] : [];
    },
  ),
);

const end = ({ incident: { node, id }, order }: Waiting): ChangeIncident => ({
  ...{ do: 'change-incident', key: node, id, about: { node } },
  reason: 'No fencer has carried it out in time.',
  decide: (now) => lapsed(now, order),
});

/** What is known too late or not at all is no reason: nothing is started there as long as the order stands. */
function endOvertaken(fleet: Fleet, { incident: { node, id }, order, incident }: Waiting): ChangeIncident[] {
  const record = fleet.nodes.get(node)?.value;
  if (!fleet.live || record === undefined) return [];
  const facts = { node: record, workloads: assignedTo(fleet, node).map((w) => w.name) };
  if (overtaken(incident, order, facts) === undefined) return [];
  return [
    {
      ...{ do: 'change-incident', key: node, id, about: { node } },
      reason: 'What it was ordered on is no longer so.',
      decide: (now) => overtaken(now, order, facts),
    },
  ];
}
