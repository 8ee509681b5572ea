import type { FencingSettings, IncidentRecord } from '#contracts';
import { go, mayGo, note, wasCommanded } from './incident-machine.js';

/**
 * What a pause, or mode observe, makes of an incident under way: written into its key, so that a command that was
 * decided on before fails its compare-and-set. Undefined: it gives no command.
 */
export function stopped(
  i: IncidentRecord,
  f: Pick<FencingSettings, 'paused'>,
  by: string,
  at: number,
): IncidentRecord | undefined {
  const text = f.paused === undefined ? `${by} set the mode to observe.` : `${by} paused fencing: ${f.paused.reason}.`;
  if (i.phase !== 'fencing' && i.phase !== 'failed') return withheld(i, text, at);
  if (wasCommanded(i) || !mayGo(i, 'suppressed')) return note(i, text, at);
  return { ...go(i, 'suppressed', text, at), gate: f.paused === undefined ? 'OBSERVE' : 'PAUSED' };
}

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
