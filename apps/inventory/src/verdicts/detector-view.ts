import { Injectable, type OnModuleInit, type OnApplicationShutdown } from '@nestjs/common';
import { BEACON_FRESH_MS, BEACON_PERIOD_MS, Subjects, type Beacon } from '#contracts';
import type { Closable } from '#bus';
import { ServiceContext } from '#service';
import { SightedTime } from './sighted-time.js';
import { SightWatch, type HeardEnd } from './sight-watch.js';
import { SilenceWatch } from './silence-watch.js';

/** A process that has listened for so long, ms, would have heard a detector that speaks. */
const FIRST_WORD_MS = 1.5 * BEACON_PERIOD_MS;

const NOBODY: readonly never[] = [];

/**
 * What the active detector last said of itself. Without a beacon for 3 s, measured on this process's own monotonic
 * clock, every verdict counts as UNKNOWN.
 */
@Injectable()
export class DetectorView implements OnModuleInit, OnApplicationShutdown {
  private last: { beacon: Beacon; heardAt: number } | undefined;
  private readonly sightedTime = new SightedTime();
  private readonly sight = new SightWatch();
  private readonly silence: SilenceWatch;
  private subscription: Closable | undefined;
  private listensSince = 0;
  /** Told at the first beacon. */
  private readonly waiting = new Set<() => void>();

  constructor(private readonly context: ServiceContext) {
    this.silence = new SilenceWatch(context.clock);
  }

  onModuleInit(): void {
    this.listensSince = this.context.clock.monotonicMs();
    this.subscription = this.context.bus.subscribe(Subjects.beacon(), (text) => this.hear(text));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.subscription?.close();
  }

  /** The last beacon, however old. */
  get beacon(): Beacon | undefined {
    return this.last?.beacon;
  }

  /** ms since the last beacon was heard; absent: none was. */
  get ageMs(): number | undefined {
    return this.last && this.context.clock.monotonicMs() - this.last.heardAt;
  }

  /** ms without a beacon: since the last, or since this process listens. */
  get silentMs(): number {
    return this.ageMs ?? this.context.clock.monotonicMs() - this.listensSince;
  }

  get fresh(): boolean {
    const age = this.ageMs;
    return age !== undefined && age < BEACON_FRESH_MS;
  }

  /** The last one, where it counts. */
  get current(): Beacon | undefined {
    return this.fresh ? this.beacon : undefined;
  }

  /** Fresh, and the detector hears enough of the fleet to judge. */
  get sighted(): boolean {
    return this.fresh && this.beacon?.sighted === true;
  }

  /** Sighted, and for long enough that it has judged everyone. */
  get settled(): boolean {
    return this.sighted && this.sight.hasSettled(this.context.clock.monotonicMs());
  }

  /** The last end of a blindness that missing reports made, where it was a moment ago. */
  get blindnessEnded(): HeardEnd | undefined {
    return this.sight.ended(this.context.clock.monotonicMs());
  }

  /** The most that were silent at the same moment a moment ago, each with how long by now, ms. */
  get silentTogether(): readonly { readonly node: string; readonly forMs: number }[] {
    const together = this.silence.together();
    // Most days: a snapshot is the one before only where this is the same list.
    if (together.length === 0) return NOBODY;
    const now = this.context.clock.monotonicMs();
    return together.map(({ node, since }) => ({ node, forMs: now - since }));
  }

  /** ms that pass only while a detector is heard that sees the fleet: to measure how long a verdict has stood. */
  get sightedMs(): number {
    return this.sightedTime.ms;
  }

  /**
   * Resolves once it is known whether a detector speaks: a beacon was heard, or this process has listened for long enough.
   * One that has just started has heard nobody, which says nothing of any node.
   */
  whenKnown(): Promise<void> {
    const { clock } = this.context;
    const left = this.listensSince + FIRST_WORD_MS - clock.monotonicMs();
    if (this.last !== undefined || left <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        this.waiting.delete(end);
        resolve();
      };
      const timer = clock.after(left, end);
      this.waiting.add(end);
    });
  }

  /** A beacon as it came. */
  hear(text: string): void {
    let beacon: Beacon;
    try {
      beacon = JSON.parse(text) as Beacon;
    } catch (cause) {
      this.context.log.warn({ cause: String(cause) }, 'a beacon that is not JSON was ignored');
      return;
    }
    // An older epoch is a detector that has not yet noticed that it was replaced.
    if (this.last && this.fresh && beacon.epoch < this.last.beacon.epoch) return;
    const heardAt = this.context.clock.monotonicMs();
    this.last = { beacon, heardAt };
    this.sightedTime.hear(beacon.sighted === true, heardAt);
    this.sight.hear(beacon, heardAt);
    this.silence.hear(beacon);
    for (const end of [...this.waiting]) end();
  }
}
