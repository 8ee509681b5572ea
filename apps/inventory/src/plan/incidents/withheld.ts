import type { IncidentRecord } from '#contracts';
import { note } from '#domain/incident/steps.js';

/** A power-on that is still wanted is wanted no more. Undefined: none was, or it is done. */
export function withheld(i: IncidentRecord, why: string, at: number): IncidentRecord | undefined {
  const p = i.powerOn;
  if (p?.wanted !== true || p.done === true) return undefined;
  const given = i.commands.some((c) => c.verb === 'on')
    ? ' An order that was given before may still be carried out.'
    : '';
  const detail = `${why} It stays off: power it on by hand.${given}`;
  return { ...note(i, detail, at), powerOn: { ...p, wanted: false, detail } };
}
