import type { JobRecord } from '../job/job.js';
import type { PublicEvent } from '../rpc/public-event.js';
import type { IncidentRecord } from '../incident/incident.js';

/** What a report on an incident is made of. */
export interface ReportFacts {
  incident: IncidentRecord;
  /** About the node, from EVENTS_BEFORE_MS before the incident on, oldest first. */
  events: PublicEvent[];
  /** There were more events than were read. */
  cut: boolean;
  /** Those that the incident ordered, and those that had its node meanwhile. */
  jobs: JobRecord[];
}

/** What led to an incident is looked for so long before it, ms. */
export const EVENTS_BEFORE_MS = 600_000;
/** What came of it is told for so long after its end, ms. */
export const EVENTS_AFTER_MS = 3_600_000;
