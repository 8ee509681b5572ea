import { Injectable } from '@nestjs/common';
import {
  EVENTS_BEFORE_MS,
  type EventMap,
  type IncidentRecord,
  type IncidentReport,
  incidentReport,
  type JobRecord,
  MusterError,
  type PublicEvent,
} from '#contracts';
import { EventHistory } from '../events/event-history.js';
import { RpcClient } from '../rpc/rpc-client.js';

/** Events and jobs of one report at most. */
const EVENTS = 1_000;
const JOBS = 50;

/** Fetches what a report on an incident is made of. */
@Injectable()
export class IncidentReports {
  constructor(
    private readonly rpc: RpcClient,
    private readonly history: EventHistory,
  ) {}

  /** Of the node's newest incident. @throws MusterError INCIDENT_UNKNOWN */
  async of(node: string): Promise<IncidentReport> {
    const incident = await this.rpc.read('inventory.incidents.get', { node });
    const since = new Date(Math.max(0, incident.openedAt - EVENTS_BEFORE_MS));
    const { items } = await this.history.newestFirst({ node, since }, EVENTS);
    const events = items.reverse();
    const jobs = await Promise.all(jobIds(incident, events).map((id) => this.job(id)));
    return incidentReport({
      incident,
      events,
      cut: events.length >= EVENTS,
      jobs: jobs.filter((job) => job !== undefined),
    });
  }

  /** Undefined: it is not kept any more. */
  private async job(id: string): Promise<JobRecord | undefined> {
    try {
      return await this.rpc.read('inventory.jobs.get', { id });
    } catch (error) {
      if (MusterError.from(error).code === 'JOB_UNKNOWN') return undefined;
      throw error;
    }
  }
}

/** Those that it ordered, and those that had its node since it was opened. */
function jobIds(incident: IncidentRecord, events: readonly PublicEvent[]): string[] {
  const ordered = incident.recovery.flatMap((r) => r.job ?? []);
  const published = events.flatMap((e) =>
    e.kind === 'job' && e.at >= incident.openedAt ? [(e.data as EventMap['job']).job] : [],
  );
  return [...new Set([...ordered, ...published])].slice(0, JOBS);
}
