import type { VirtualClock } from '../time/virtual-clock.js';
import type { CrashPoints } from './crash-points.js';

/**
 * One run of a process, from its start to its end. Everything that it does to the world goes through {@link call} or
 * {@link act}; once it is over nothing that it does has an effect, and nothing that it waits for ever comes.
 */
export class Life {
  private readonly endings = new Set<() => void>();
  private ended = false;

  constructor(
    readonly process: string,
    readonly clock: VirtualClock,
    private readonly points: CrashPoints,
  ) {}

  get over(): boolean {
    return this.ended;
  }

  /** Called when it ends, at once; in the order of their coming. Returns the way to be called no more. */
  onEnd(fn: () => void): () => void {
    const ending = (): void => fn();
    if (this.ended) fn();
    else this.endings.add(ending);
    return () => void this.endings.delete(ending);
  }

  /** kill -9: its timers are gone, its promises never settle, its connections break. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.clock.end();
    for (const fn of this.endings) fn();
  }

  /** A call of a port that is answered. */
  call<T>(what: string, effect: () => Promise<T>): Promise<T> {
    if (this.ended || this.diesAt(what, 'before')) return never<T>();
    return new Promise<T>((resolve, reject) => {
      effect().then(
        (answer) => this.answered(what, () => resolve(answer)),
        (error: unknown) => this.answered(what, () => reject(error as Error)),
      );
    });
  }

  /** A call of a port that is not answered. What it returns counts for nothing where the process has ended. */
  act(what: string, effect: () => void): void {
    this.open(what, effect);
  }

  /** A call of a port that hands over at once what it has opened; undefined where the process has ended before. */
  open<T>(what: string, effect: () => T): T | undefined {
    if (this.ended || this.diesAt(what, 'before')) return undefined;
    const opened = effect();
    this.diesAt(what, 'after');
    return opened;
  }

  private answered(what: string, settle: () => void): void {
    if (this.ended || this.diesAt(what, 'after')) return;
    settle();
  }

  private diesAt(what: string, moment: 'before' | 'after'): boolean {
    if (!this.points.reach(this.process, what, moment)) return false;
    this.end();
    return true;
  }
}

/** The promise of somebody who is dead. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
