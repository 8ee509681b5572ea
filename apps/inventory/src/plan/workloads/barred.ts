import { takenInDoubt, unreadableBar, type Bar, type Taker } from '#domain/workload/bar.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { aboutNode, eachRecord } from '../each-record.js';
import { contradicted, type ProvenCondition } from '../power/contradicted.js';
import { awaitedStarts } from './awaited-starts.js';

/**
 * Workload → the node that it was taken from, or that has kept it, and that may still run it: also where nobody can say
 * whether it does.
 * @throws MusterError what of such an incident was taken cannot be said, either
 */
export function barred(fleet: Fleet, ages: Ages<ProvenCondition>): ReadonlyMap<string, Bar> {
  const spoken = contradicted(fleet, ages);
  const onRecord = eachRecord(fleet.incidents.list, aboutNode, ({ value }) => takenInDoubt(value));
  const unclear = [...spoken.failed, ...onRecord.failed].flatMap(
    (f) => fleet.incidents.get(f.about['node'] ?? '') ?? [],
  );
  const taken = [...spoken.made, ...onRecord.made, ...unclear.map((e) => e.value)];
  return new Map([
    ...unread(fleet),
    ...taken.flatMap(({ node, recovery }) =>
      recovery.map((r): [string, Bar] => [r.workload, { is: 'in-doubt', node }]),
    ),
  ]);
}

function unread(fleet: Fleet): [string, Bar][] {
  // One of which this cannot be said is among the unclear, or told of by who judges it.
  const incidents = eachRecord(fleet.incidents.list, aboutNode, ({ value }) => [takerOf(value)]).made;
  if (!incidents.some((i) => i.unreadable !== undefined)) return [];
  return awaitedStarts(fleet).awaited.flatMap((w): [string, Bar][] => {
    const bar = unreadableBar(w, incidents, (node) => fleet.reports.has(node));
    return bar === undefined ? [] : [[w.name, bar]];
  });
}

const takerOf = ({ id, node, phase, recovery, unreadable }: Taker): Taker => ({
  ...{ id, node, phase, recovery },
  ...(unreadable !== undefined && { unreadable }),
});
