import type { IncidentRecord } from '../incident/incident.js';
import type { UnreadableRecord } from './decode.js';

/**
 * What is shown in the place of a record that cannot be read, where to leave it out would make something look free.
 * An incident: its node counts as having one open, of which nothing is known. So no other one is opened, nothing is
 * powered off or on, started, set up or placed there until somebody has deleted it. It is never stored.
 */
export function standIn(r: UnreadableRecord): IncidentRecord | undefined {
  if (r.bucket !== 'incidents' || r.foreign === true) return undefined;
  const detail = `The record of this incident cannot be read: ${r.why}.`;
  return {
    id: `unreadable-${r.revision}`,
    node: r.key,
    phase: 'suppressed',
    cause: 'auto',
    reason: detail,
    openedAt: 0,
    updatedAt: 0,
    gates: [],
    conductor: 0,
    level: 0,
    attempt: 0,
    commands: [],
    recovery: [],
    steps: [],
    unreadable: r.why,
  };
}
