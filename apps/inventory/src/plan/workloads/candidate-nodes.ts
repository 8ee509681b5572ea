import type { OutReason } from '#contracts';
import { capacityOf, isReserve, weights, type CandidateNode } from '#domain/workload/placement.js';
import { missingOf, offersOf } from '../../nodes/missing-drivers.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { aboutNode, aboutWorkload, decideTogether, eachRecord, type Decided } from '../each-record.js';
import { heldIn, reasonsIn } from '../out-of-service.js';

/** The nodes as placement sees them, by name. On one of which it cannot be said whether it serves nothing is placed. */
export const candidateNodes = perFleet((fleet: Fleet): Decided<CandidateNode> => {
  const used = decideTogether(fleet.workloads.list, aboutWorkload, (all) => weights(all.map((e) => e.value)));
  const { made, failed } = eachRecord(fleet.nodes.list, aboutNode, ({ value: n }): CandidateNode[] => [
    {
      name: n.name,
      hostGroup: n.hostGroup,
      capacity: capacityOf(n.vars),
      used: used.made.get(n.name) ?? 0,
      reserve: isReserve(n.vars),
      out: whyOut(fleet, n.name) ?? whyMute(fleet, n.name),
    },
  ]);
  return { made: made.toSorted((a, b) => (a.name < b.name ? -1 : 1)), failed: [...used.failed, ...failed] };
});

/** Nodes of which a driver is offered by nobody. Who tells of drivers tells of those of which that cannot be said. */
const undriven = perFleet(({ workers, nodes }: Fleet): Decided<string> => {
  const offers = offersOf(workers ?? []);
  return eachRecord(nodes.list, aboutNode, ({ key, value }) => (missingOf(value, offers).length === 0 ? [] : [key]));
});

/** A detector that sees is heard, and a live worker for each driver: only nodes may be silent. */
export function isEveryServiceHeard(fleet: Fleet): boolean {
  if (!fleet.detector.sighted) return false;
  const { made, failed } = undriven(fleet);
  return made.length === 0 && failed.length === 0;
}

/** Why nothing may be placed there; undefined: in service. */
export const whyOut = (fleet: Fleet, node: string): string | undefined => why(fleet, node, () => true);

/** Why what is assigned there may not be started. A claim that came after it keeps others away, not that. */
export function whyNotStart(fleet: Fleet, node: string): string | undefined {
  const { job, periodic, edit, claim } = heldIn(fleet)[node] ?? {};
  const onlyClaimed = claim !== undefined && (job === undefined || periodic === true) && edit === undefined;
  return why(fleet, node, (code) => code !== 'RESERVED' || !onlyClaimed);
}

/**
 * Why nothing may be placed there although the node is in service: its start gate could ask nobody, and nobody would see
 * what runs. Where no node at all is heard it is this process that does not hear. Undefined: nothing.
 */
const whyMute = ({ reports }: Fleet, node: string): string | undefined =>
  reports.size > 0 && reports.get(node)?.workloads === undefined ? 'does not say what it runs' : undefined;

function why(fleet: Fleet, node: string, counts: (code: OutReason['code']) => boolean): string | undefined {
  const record = fleet.nodes.get(node)?.value;
  if (record === undefined) return 'is not known';
  if (!record.enrolled) return 'runs no agent: its start gate could not be asked';
  return reasonsIn(fleet)(record).find((r) => counts(r.code))?.detail;
}
