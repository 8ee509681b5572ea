import type { IncidentRecord } from '#contracts';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { isVoid } from '../../power/contradiction.js';
import { contradicted, type ProvenCondition } from '../power/contradicted.js';

/** Workload → the node that it was taken from, and that may still run it. */
export function barred(fleet: Fleet, ages: Ages<ProvenCondition>): ReadonlyMap<string, string> {
  const taken: Taken[] = [...contradicted(fleet, ages), ...fleet.incidents.list.flatMap((e) => voidedTake(e.value))];
  return new Map(taken.flatMap(({ node, recovery }) => recovery.map((r): [string, string] => [r.workload, node])));
}

type Taken = Pick<IncidentRecord, 'node' | 'recovery'>;

const voidedTake = (i: IncidentRecord): Taken[] =>
  isVoid(i) && i.contradiction !== undefined ? [{ node: i.node, recovery: i.contradiction.recovery }] : [];
