import type { IncidentRecord } from '#contracts';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { isVoid } from '../../power/contradiction.js';
import { contradicted, type ProvenCondition } from '../power/contradicted.js';

/** Workload → the node that it was taken from, and that may still run it. */
export function barred(fleet: Fleet, ages: Ages<ProvenCondition>): ReadonlyMap<string, string> {
  return barredBy(
    contradicted(fleet, ages),
    fleet.incidents.list.map((e) => e.value),
  );
}

/**
 * The same.
 * @param contradicted those whose proof is contradicted as of now
 */
export function barredBy(
  contradicted: readonly IncidentRecord[],
  all: readonly IncidentRecord[],
): ReadonlyMap<string, string> {
  const taken = [...contradicted.map((i) => ({ node: i.node, recovery: i.recovery })), ...all.flatMap(voidedTake)];
  return new Map(taken.flatMap(({ node, recovery }) => recovery.map((r): [string, string] => [r.workload, node])));
}

const voidedTake = (i: IncidentRecord): Pick<IncidentRecord, 'node' | 'recovery'>[] =>
  isVoid(i) && i.contradiction !== undefined ? [{ node: i.node, recovery: i.contradiction.recovery }] : [];
