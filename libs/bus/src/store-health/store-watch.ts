import type { Timer } from '#contracts';
import type { Bus } from '../bus/bus.js';
import { readDisk } from './disk.js';
import { storeFault, type Disk, type StoreFacts, type StoreFault } from './store-health.js';

/** Between two checks, ms. */
const CHECK_MS = 1_000;
/** Between two checks, ms: who did not check for so long stood still itself. */
const STOOD_STILL_MS = 3_000;

export interface StoreWatchOptions {
  /** The store's folder, where it is on this machine. */
  path?: string | undefined;
  /** That its user may ask for. */
  streams: readonly string[];
  restartsItself?: boolean | undefined;
  /** A write that leaves nothing behind; what reads say proves nothing where several servers must agree. */
  write?: (() => Promise<unknown>) | undefined;
  /** Called after each check. */
  onChecked?: (facts: StoreFacts) => void;
}

/**
 * Checks the store from outside, once a second: the disk by itself, the streams by asking. A server of 2.9 whose disk
 * is full answers nothing about streams any more, while everything else of it works.
 */
export class StoreWatch {
  private timer: Timer | undefined;
  private asking: Promise<void> | undefined;
  private silentSince: number | undefined;
  private writing: Promise<void> | undefined;
  private unwrittenSince: number | undefined;
  private missing: string[] = [];
  private missingSince: number | undefined;
  private wasWhole = false;
  private disk: Disk | undefined;
  private reading = false;
  private checkedAt: number | undefined;
  private next = 0;

  constructor(
    private readonly bus: Bus,
    private readonly o: StoreWatchOptions,
  ) {}

  start(): this {
    this.timer = this.bus.clock.every(CHECK_MS, () => void this.check());
    void this.check();
    return this;
  }

  close(): void {
    this.timer?.cancel();
  }

  /** What is wrong now, by the last check. */
  get fault(): StoreFault | undefined {
    return storeFault(this.facts());
  }

  private facts(): StoreFacts {
    const now = this.bus.clock.monotonicMs();
    const since = (at: number | undefined): number => (at === undefined ? 0 : now - at);
    return {
      connected: this.bus.connected,
      ...(this.disk !== undefined && { disk: this.disk }),
      silentForMs: since(this.silentSince),
      missing: this.missing,
      missingForMs: since(this.missingSince),
      wasWhole: this.wasWhole,
      restartsItself: this.o.restartsItself === true,
      ...(this.o.write !== undefined && { unwrittenForMs: since(this.unwrittenSince) }),
    };
  }

  private async check(): Promise<void> {
    const now = this.bus.clock.monotonicMs();
    // An answer that came meanwhile may lie unread.
    if (this.checkedAt !== undefined && now - this.checkedAt >= STOOD_STILL_MS)
      this.silentSince = this.unwrittenSince = undefined;
    this.checkedAt = now;
    this.ask();
    this.tryWrite();
    if (this.reading) return;
    this.reading = true;
    try {
      if (this.o.path !== undefined) this.disk = await readDisk(this.o.path);
    } finally {
      this.reading = false;
    }
    this.o.onChecked?.(this.facts());
  }

  /** One question at a time, each stream in its turn: a store that is silent is not to be drowned in them. */
  private ask(): void {
    if (!this.bus.connected) this.silentSince = undefined;
    else {
      this.silentSince ??= this.bus.clock.monotonicMs();
      const name = this.o.streams[this.next] ?? '';
      this.asking ??= this.bus
        .hasStream(name)
        .then((there) => this.answered(name, there))
        // No answer, and no other word of the store: the time that is running says so.
        .catch((e: unknown) => this.bus.log.debug({ err: e }, 'the store does not answer'))
        .finally(() => (this.asking = undefined));
    }
  }

  /** One at a time; where it fails, time runs since the first that did. */
  private tryWrite(): void {
    const { write } = this.o;
    if (write === undefined) return;
    if (!this.bus.connected) {
      this.unwrittenSince = undefined;
      return;
    }
    this.unwrittenSince ??= this.bus.clock.monotonicMs();
    this.writing ??= write()
      .then(() => (this.unwrittenSince = undefined))
      .catch((e: unknown) => this.bus.log.debug({ err: e }, 'the store acknowledges no write'))
      .then(() => (this.writing = undefined));
  }

  private answered(name: string, there: boolean): void {
    this.silentSince = undefined;
    this.missing = [...this.missing.filter((m) => m !== name), ...(there ? [] : [name])];
    if (this.missing.length === 0) this.missingSince = undefined;
    else this.missingSince ??= this.bus.clock.monotonicMs();
    this.next = (this.next + 1) % this.o.streams.length;
    if (this.missing.length === 0 && this.next === 0) this.wasWhole = true;
  }
}
