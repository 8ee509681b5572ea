import { Injectable } from '@nestjs/common';
import type { Bus, Closable } from '#bus';
import { MusterError, Subjects } from '#contracts';
import { ServiceContext } from '#service';
import { type EventSelection, isAbout, type PublicEvent, subjectsOf, toPublic } from './event-selection.js';

const DEFAULT_LIMIT = 100;
const READ_LIMIT_MS = 5_000;

/** What is stored of the past. */
@Injectable()
export class EventHistory {
  constructor(private readonly context: ServiceContext) {}

  /** @throws MusterError BUS_UNAVAILABLE, TIMEOUT */
  async newestFirst(selection: EventSelection, limit = DEFAULT_LIMIT): Promise<{ items: PublicEvent[] }> {
    const items: PublicEvent[] = [];
    await readPast(this.context.bus, selection, limit, (event) => {
      items.push(event);
      if (items.length > limit) items.shift();
    });
    return { items: items.reverse() };
  }

  /**
   * All that is told of the node, under its own key or elsewhere, of one that was deleted too. The work of one page is
   * bounded: it may be short, or empty, and still have a `next`.
   * @throws MusterError BUS_UNAVAILABLE, TIMEOUT
   */
  async ofNode(node: string, before?: number, limit = DEFAULT_LIMIT): Promise<{ items: PublicEvent[]; next?: string }> {
    const { bus } = this.context;
    if (!bus.connected) throw new MusterError('BUS_UNAVAILABLE', 'no connection to NATS; it is being made anew');
    const { items, next } = await bus.readBack(
      [Subjects.verdict(node), Subjects.event('*', node), ...FOREIGN.map((kind) => Subjects.event(kind, '*'))],
      {
        count: limit,
        keep: (subject, value) => isAbout(toPublic(subject, value, 0), node),
        timeoutMs: READ_LIMIT_MS,
        ...(before !== undefined && { before }),
      },
    );
    const events = items.map((e) => toPublic(e.subject, e.value, e.seq));
    return next === undefined ? { items: events } : { items: events, next: String(next) };
  }
}

/** Kinds that are not stored under the node's own key and may name it all the same. */
const FOREIGN = ['discovered', 'disappeared', 'job', 'job-node', 'workload', 'claim', 'alarm'];

async function readPast(
  bus: Bus,
  selection: EventSelection,
  limit: number,
  take: (event: PublicEvent) => void,
): Promise<void> {
  if (!bus.connected) throw new MusterError('BUS_UNAVAILABLE', 'no connection to NATS; it is being made anew');
  let reader: Closable | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new MusterError('TIMEOUT', 'the events were not read in time')), READ_LIMIT_MS);
      const start = selection.since === undefined ? { last: limit } : { since: selection.since };
      const options = { ...start, onLive: resolve };
      reader = bus.follow(subjectsOf(selection, true), options, (subject, value, seq) => {
        const event = toPublic(subject, value, seq);
        if (isAbout(event, selection.node)) take(event);
      });
    });
  } finally {
    clearTimeout(timer);
    await reader?.close();
  }
}
