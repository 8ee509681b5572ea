import type { Clock, UnreadableRecord } from '#contracts';
import type { WatchOptions } from './kv-watch.js';
import type { Closable, Entry, Watch } from '../ports/types.js';

/** A bucket's values at hand, kept current by a watch. Good for looking, never for deciding a write. */
export class KvView<T> implements Closable {
  private readonly values = new Map<string, Entry<T>>();
  private readonly left = new Map<string, UnreadableRecord>();
  private readonly listeners = new Set<(key: string, value: T | undefined) => void>();
  private readonly waiting = new Set<() => void>();
  private source: Watch | undefined;
  private highest = 0;
  /** As {@link entries} hands them out, until one changes. */
  private list: readonly Entry<T>[] | undefined;

  private constructor(private readonly clock: Clock) {}

  static async open<T>(watch: (o: WatchOptions<T>) => Watch, clock: Clock): Promise<KvView<T>> {
    const view = new KvView<T>(clock);
    await new Promise<void>((resolve) => {
      view.source = watch({
        onChange: (key, value, revision) => view.take(key, value, revision),
        onUnreadable: (record) => view.leaveOut(record),
        onSeen: (revision) => view.seen(revision),
        onLive: () => {
          resolve();
          view.notifyWaiting();
        },
      });
    });
    return view;
  }

  /** False: there may be changes that have not been seen. */
  get live(): boolean {
    return this.source?.live ?? false;
  }

  /** The highest that was seen: while the view is live, it shows every write up to this one. */
  get revision(): number {
    return this.highest;
  }

  /** Resolves to true once it is live and shows every write up to `revision`, to false when `ms` passed before. */
  async shows(revision: number, ms: number): Promise<boolean> {
    const does = (): boolean => this.live && this.highest >= revision;
    if (does()) return true;
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        this.waiting.delete(look);
        resolve(does());
      };
      const timer = this.clock.after(ms, end);
      const look = (): void => void (does() && end());
      this.waiting.add(look);
    });
  }

  get(key: string): Entry<T> | undefined {
    return this.values.get(key);
  }

  /**
   * Records that cannot be read and are left out, or stood in for, by key: who decides from something not being there
   * asks for them as well.
   */
  get unreadable(): ReadonlyMap<string, UnreadableRecord> {
    return this.left;
  }

  /** All of them, as of now: the list is the same one until something changes, and stays as it is after that. */
  entries(): readonly Entry<T>[] {
    return (this.list ??= [...this.values.values()]);
  }

  /** `value` undefined: deleted. Returns how to stop it. */
  onChange(fn: (key: string, value: T | undefined) => void): () => void {
    this.listeners.add(fn);
    return () => this.listeners.delete(fn);
  }

  async close(): Promise<void> {
    this.listeners.clear();
    await this.source?.close();
  }

  private take(key: string, value: T | undefined, revision: number): void {
    this.left.delete(key);
    this.list = undefined;
    if (value === undefined) this.values.delete(key);
    else this.values.set(key, { key, value, revision });
    this.notify(key, value);
  }

  private leaveOut(record: UnreadableRecord): void {
    if (record.foreign === true) return;
    this.left.set(record.key, record);
    this.notify(record.key, this.values.get(record.key)?.value);
  }

  /** One that fails does not keep it from the others. */
  private notify(key: string, value: T | undefined): void {
    let failure: { cause: unknown } | undefined;
    for (const fn of [...this.listeners])
      try {
        fn(key, value);
      } catch (cause) {
        failure ??= { cause };
      }
    if (failure) throw failure.cause;
  }

  private seen(revision: number): void {
    this.highest = Math.max(this.highest, revision);
    this.notifyWaiting();
  }

  private notifyWaiting(): void {
    for (const look of [...this.waiting]) look();
  }
}
