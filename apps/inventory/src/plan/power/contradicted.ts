import type { IncidentRecord } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { isContradicted } from '../../power/contradiction.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';

/** Of an incident: its power is proven off, by this proof. One that took its place has an age of its own. */
export type ProvenCondition = `proven/${string}`;

/** What holds as of now of {@link ProvenCondition}. */
export const proven = ({ incidents }: Fleet): Decided<ProvenCondition> =>
  eachRecord(incidents.list, aboutNode, ({ value: i }) => (isAfterOff(i) ? [provenCondition(i)] : []));

/** Incidents whose proof of off something speaks against, as is heard or on record. Of those that failed that cannot be said. */
export const contradicted = (fleet: Fleet, ages: Ages<ProvenCondition>): Decided<IncidentRecord> =>
  eachRecord(fleet.incidents.list, aboutNode, ({ value: i }) =>
    isAfterOff(i) && isContradicted(i, ages.of(provenCondition(i)), wordOf(fleet, i.node)) ? [i] : [],
  );

/** In which boot the node spoke last, and how long ago; undefined: this process has never heard it. */
export function wordOf({ heard }: Fleet, node: string): { bootId: string; agoMs: number } | undefined {
  const last = heard(node);
  return last && { bootId: last.report.bootId, agoMs: last.ago };
}

export const provenCondition = ({ id, proof }: IncidentRecord): ProvenCondition => `proven/${id}/${proof?.at ?? 0}`;
