import { Readable } from 'node:stream';
import type { Bus, Closable } from '#bus';
import { type PublicEvent, toPublic } from '#contracts';
import { type EventSelection, isAbout, subjectsOf } from './event-selection.js';

/** A comment line after so much silence: proxies and clients take a silent stream for a dead one. */
const KEEP_ALIVE_MS = 15_000;

/**
 * Events as `text/event-stream`. A reader that is slower than the events holds up its own reading of the stream, and
 * nothing else: the server keeps the events.
 */
export class EventFeed extends Readable {
  private readonly reader: Closable;
  private readonly beat: NodeJS.Timeout;
  private wanted: (() => void) | undefined;

  /** @param after resume behind this sequence; wins over `since`. Without both: from now on. */
  constructor(bus: Bus, selection: EventSelection, after: number | undefined) {
    super();
    const start =
      after !== undefined ? { fromSeq: after + 1 } : selection.since ? { since: selection.since } : { newOnly: true };
    this.push(': muster\n\n');
    this.reader = bus.follow(subjectsOf(selection), start, (subject, value, seq) => {
      const event = toPublic(subject, value, seq);
      if (!isAbout(event, selection.node)) return undefined;
      return this.give(sseText(event));
    });
    this.beat = setInterval(() => void this.give(':\n\n'), KEEP_ALIVE_MS);
  }

  override _read(): void {
    this.wanted?.();
    this.wanted = undefined;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.beat);
    // The follower may wait for us to be read: it is let go before it is closed.
    this.wanted?.();
    this.wanted = undefined;
    this.reader.close().then(
      () => done(error),
      (e: unknown) => done(error ?? (e as Error)),
    );
  }

  private give(text: string): Promise<void> | undefined {
    if (this.destroyed || this.push(text)) return undefined;
    return new Promise((resolve) => {
      const before = this.wanted;
      this.wanted = () => {
        before?.();
        resolve();
      };
    });
  }
}

const sseText = (event: PublicEvent): string =>
  `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
