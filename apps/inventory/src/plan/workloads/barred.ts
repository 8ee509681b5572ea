import type { IncidentRecord } from '#contracts';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { isVoid } from '../../power/contradiction.js';
import { aboutNode, eachRecord } from '../each-record.js';
import { contradicted, type ProvenCondition } from '../power/contradicted.js';

/**
 * Workload → the node that it was taken from, or that has kept it, and that may still run it: also where nobody can say
 * whether it does.
 * @throws MusterError what of such an incident was taken cannot be said, either
 */
export function barred(fleet: Fleet, ages: Ages<ProvenCondition>): ReadonlyMap<string, string> {
  const spoken = contradicted(fleet, ages);
  const voided = eachRecord(fleet.incidents.list, aboutNode, ({ value }) => voidedTake(value));
  const unclear = [...spoken.failed, ...voided.failed].flatMap((f) => fleet.incidents.get(f.about['node'] ?? '') ?? []);
  const taken: Taken[] = [...spoken.made, ...voided.made, ...unclear.map((e) => e.value)];
  return new Map(taken.flatMap(({ node, recovery }) => recovery.map((r): [string, string] => [r.workload, node])));
}

type Taken = Pick<IncidentRecord, 'node' | 'recovery'>;

const voidedTake = (i: IncidentRecord): Taken[] =>
  isVoid(i) && i.contradiction !== undefined ? [{ node: i.node, recovery: i.contradiction.recovery }] : [];
