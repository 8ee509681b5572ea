import { Injectable, type OnModuleInit, type OnApplicationShutdown } from '@nestjs/common';
import { BEACON_FRESH_MS, Subjects, type Beacon } from '#contracts';
import type { Closable } from '#bus';
import { ServiceContext } from '#service';

/**
 * What the active detector last said of itself. Without a beacon for 3 s, measured on this process's own monotonic
 * clock, every verdict counts as UNKNOWN.
 */
@Injectable()
export class DetectorView implements OnModuleInit, OnApplicationShutdown {
  private last: { beacon: Beacon; heardAt: number } | undefined;
  private subscription: Closable | undefined;

  constructor(private readonly context: ServiceContext) {}

  onModuleInit(): void {
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
    return this.last && performance.now() - this.last.heardAt;
  }

  get fresh(): boolean {
    const age = this.ageMs;
    return age !== undefined && age < BEACON_FRESH_MS;
  }

  /** Fresh, and the detector hears enough of the fleet to judge. */
  get sighted(): boolean {
    return this.fresh && this.beacon?.sighted === true;
  }

  private hear(text: string): void {
    let beacon: Beacon;
    try {
      beacon = JSON.parse(text) as Beacon;
    } catch (cause) {
      this.context.log.warn({ cause: String(cause) }, 'a beacon that is not JSON was ignored');
      return;
    }
    // An older epoch is a detector that has not yet noticed that it was replaced.
    if (this.last && this.fresh && beacon.epoch < this.last.beacon.epoch) return;
    this.last = { beacon, heardAt: performance.now() };
  }
}
