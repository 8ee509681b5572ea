import { Injectable } from '@nestjs/common';
import { eventSubject, type EventMap } from '#contracts';
import { fencingReport, type FencingReport } from '#contracts/incident/fencing-report.js';
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
    const since = new Date(Date.now() - days * DAY_MS);
    const [{ fencing }, { items }, { keptSince }] = await Promise.all([
      this.rpc.read('inventory.settings.get', {}),
      this.history.newestFirst({ kinds: ['incident'], since }, EVENTS),
      this.history.lastUntil(eventSubject('incident', '*'), since),
    ]);
    // What was left out is the oldest.
    const cut = items.length >= EVENTS ? items.at(-1)?.at : undefined;
    return fencingReport({
      since: since.getTime(),
      keptSince: cut ?? keptSince?.getTime(),
      mode: fencing.mode,
      events: items.reverse().map(({ at, data }) => ({ at, data: data as EventMap['incident'] })),
    });
  }
}
