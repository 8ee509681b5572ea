import type { IncidentRecord } from '#contracts';
import type { Moment } from './intent.js';

/** By which fleet and under which token an incident is changed. */
export type Conducting = Pick<Moment, 'fleet' | 'token'>;

/** The change, under the conductor's token; undefined: there is none, or a later conductor has decided meanwhile. */
export const conducted = (
  now: IncidentRecord,
  { token }: Conducting,
  next: IncidentRecord | undefined,
): IncidentRecord | undefined =>
  next === undefined || now.conductor > token ? undefined : { ...next, conductor: token };
