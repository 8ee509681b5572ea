import { Injectable } from '@nestjs/common';
import type { Bus, Closable, LastUntil } from '#bus';
import { MusterError, Subjects, type Verdict, type PublicEvent, toPublic } from '#contracts';
import { ServiceContext } from '#service';
import { type EventSelection, isAbout, subjectsOf } from './event-selection.js';

const DEFAULT_LIMIT = 100;
const READ_LIMIT_MS = 5_000;

/** What is stored of the past. */
@Injectable()
export class EventHistory {
  constructor(private readonly context: ServiceContext) {}

  /**
   * Of a node all that is told of it, under its own key or elsewhere.
   * @throws MusterError BUS_UNAVAILABLE, TIMEOUT
   */
  async newestFirst(selection: EventSelection, limit = DEFAULT_LIMIT): Promise<{ items: PublicEvent[] }> {
    // Only a look at each event tells what a node's last so many are: they are read from the end.
    if (selection.node !== undefined && selection.since === undefined)
      return { items: await this.lastOfNode(selection, selection.node, limit) };
    const items: PublicEvent[] = [];
    await readPast(this.connected(), selection, limit, (event) => {
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
    const { items, next } = await this.pageOf({ node }, node, limit, READ_LIMIT_MS, before);
    return next === undefined ? { items } : { items, next: String(next) };
  }

  /**
   * Verdicts on a node, newest first.
   * @param before sequence of the first that is too new
   * @param until those that were given later are left out
   */
  async verdictsOf(node: string, count: number, before?: number, until?: Date): Promise<Verdict[]> {
    const { items } = await this.connected().readBack([Subjects.verdict(node)], {
      count,
      keep: (_subject, v) => until === undefined || (v as Verdict).at <= until.getTime(),
      timeoutMs: READ_LIMIT_MS,
      ...(before !== undefined && { before }),
    });
    return items.map((e) => e.value as Verdict);
  }

  /** Where a subject stood at a moment, by the clock of NATS. */
  lastUntil(subject: string, until: Date): Promise<LastUntil> {
    return this.connected().lastUntil(subject, until);
  }

  private async lastOfNode(selection: EventSelection, node: string, limit: number): Promise<PublicEvent[]> {
    const deadline = performance.now() + READ_LIMIT_MS;
    const found: PublicEvent[] = [];
    let before: number | undefined;
    do {
      const timeoutMs = deadline - performance.now();
      const { items, next } = await this.pageOf(selection, node, limit - found.length, timeoutMs, before);
      found.push(...items);
      before = next;
    } while (before !== undefined && found.length < limit);
    return found;
  }

  private async pageOf(
    selection: EventSelection,
    node: string,
    count: number,
    timeoutMs: number,
    before: number | undefined,
  ): Promise<{ items: PublicEvent[]; next?: number }> {
    const { items, next } = await this.connected().readBack(subjectsOf(selection), {
      count,
      keep: (subject, value) => isAbout(toPublic(subject, value, 0), node),
      timeoutMs,
      ...(before !== undefined && { before }),
    });
    const events = items.map((e) => toPublic(e.subject, e.value, e.seq));
    return next === undefined ? { items: events } : { items: events, next };
  }

  private connected(): Bus {
    const { bus } = this.context;
    if (!bus.connected) throw new MusterError('BUS_UNAVAILABLE', 'no connection to NATS; it is being made anew');
    return bus;
  }
}

async function readPast(
  bus: Bus,
  selection: EventSelection,
  limit: number,
  onEvent: (event: PublicEvent) => void,
): Promise<void> {
  let reader: Closable | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new MusterError('TIMEOUT', 'the events were not read in time')), READ_LIMIT_MS);
      const start = selection.since === undefined ? { last: limit } : { since: selection.since };
      const options = { ...start, onLive: resolve };
      reader = bus.follow(subjectsOf(selection), options, (subject, value, seq) => {
        const event = toPublic(subject, value, seq);
        if (isAbout(event, selection.node)) onEvent(event);
      });
    });
  } finally {
    clearTimeout(timer);
    await reader?.close();
  }
}
