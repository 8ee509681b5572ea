import type { IncidentRecord } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { isContradicted } from '../../power/contradiction.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';

/** Of an incident: its power is proven off, by this proof. One that took its place has an age of its own. */
export type ProvenCondition = `proven/${string}`;

/** What holds as of now of {@link ProvenCondition}. */
export const proven = ({ incidents }: Fleet): ProvenCondition[] =>
  incidents.list.flatMap(({ value }) => (isAfterOff(value) ? [provenCondition(value)] : []));

/** Incidents whose proof of off the node itself contradicts. */
export const contradicted = ({ incidents, heard }: Fleet, ages: Ages<ProvenCondition>): IncidentRecord[] =>
  incidents.list.flatMap(({ value: i }) => {
    if (!isAfterOff(i)) return [];
    const last = heard(i.node);
    const word = last && { bootId: last.report.bootId, agoMs: last.ago };
    return isContradicted(i, ages.of(provenCondition(i)), word) ? [i] : [];
  });

const provenCondition = ({ id, proof }: IncidentRecord): ProvenCondition => `proven/${id}/${proof?.at ?? 0}`;
