import { Injectable } from '@nestjs/common';
import { eventSubject, type EventMap } from '#contracts';
import type { FencingReport } from '#contracts/incident/fencing-report.js';
import { fencingReport } from '#domain/incident/fencing-report.js';
import { EventHistory } from '../events/event-history.js';
import { RpcClient } from '../rpc/rpc-client.js';

const DAY_MS = 24 * 3600 * 1000;
/** Events of one report at most, the newest. */
const EVENTS = 20_000;

/** Fetches what a report on the decisions of a period is made of. */
@Injectable()
export class FencingReports {
  constructor(
    private readonly rpc: RpcClient,
    private readonly history: EventHistory,
  ) {}

  async of(days: number): Promise<FencingReport> {
    const now = Date.now();
    const since = new Date(now - days * DAY_MS);
    const [{ fencing, detector }, { items }, settings, { keptSince }] = await Promise.all([
      this.rpc.read('inventory.status', {}),
      this.history.newestFirst({ kinds: ['incident'], since }, EVENTS),
      this.history.newestFirst({ kinds: ['settings'], since }, EVENTS),
      this.history.lastUntil(eventSubject('incident', '*'), since),
    ]);
    // What was left out is the oldest.
    const cut = items.length >= EVENTS ? items.at(-1)?.at : undefined;
    return fencingReport({
      since: since.getTime(),
      // Of an empty stream nothing is kept: what was decided before may have been lost with it.
      keptSince: cut ?? keptSince?.getTime() ?? now,
      mode: fencing.mode,
      members: detector.members,
      limits: fencing.storm,
      events: items.reverse().map(({ at, data }) => ({ at, data: data as EventMap['incident'] })),
      settings: settings.items.reverse().map(({ at, data }) => ({ at, data: data as EventMap['settings'] })),
      now,
    });
  }
}
