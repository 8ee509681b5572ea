import type { BusLog } from '#bus';
import { MusterError, type Clock, type Timer } from '#contracts';
import type { PowerDrivers } from './power-driver.js';

/** How often the drivers are tested, ms: a tool may be removed, or come with a package. */
const TEST_MS = 60_000;
/** The same while one that worked does not. */
const RETEST_MS = 5_000;
/** A driver is on offer until so many tests in a row have failed: one may have been slow on a busy host. */
const MOST_FAILURES = 3;

export interface DriverWatchParts {
  clock: Clock;
  log: BusLog;
  drivers: PowerDrivers;
}

/**
 * Which drivers this process offers, and which of them it could not start when it last tried: in a test, or for a
 * command. The first is what nodes are registered with and must not flicker; the second is for another fencer to step in.
 */
export class DriverWatch {
  /** Of each that ever passed: failures in a row. */
  private readonly failures = new Map<string, number>();
  private readonly listeners = new Set<() => void>();
  private timer: Timer | undefined;
  private stopped = false;

  constructor(private readonly parts: DriverWatchParts) {}

  /** Resolves after the first test: an incident must not fail for a driver that was only not tested yet. */
  async start(): Promise<void> {
    await this.test();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  /** On offer, those that fail right now included: where nobody else can, they are tried all the same. */
  names(): string[] {
    return this.which((failures) => failures < MOST_FAILURES);
  }

  /** On offer, and could not be started at the last try. */
  failing(): string[] {
    return this.which((failures) => failures > 0 && failures < MOST_FAILURES);
  }

  works(driver: string): boolean {
    return this.failures.get(driver) === 0;
  }

  /** What became of a command: could its driver be started? Commands side by side are no row of tests. */
  note(driver: string, started: boolean): void {
    const failures = this.failures.get(driver);
    if (failures === undefined || started === (failures === 0)) return;
    // What has been given up comes back by a test.
    if (started && failures >= MOST_FAILURES) return;
    this.failures.set(driver, started ? 0 : 1);
    this.parts.log.warn(
      { driver },
      started
        ? 'power driver can be started again'
        : 'power driver cannot be started: where that lasts, install or repair its program on this host',
    );
    this.changed();
    this.schedule();
  }

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  private async test(): Promise<void> {
    const passed = new Set(await this.parts.drivers.test());
    if (this.stopped) return;
    const before = JSON.stringify([...this.failures]);
    for (const driver of passed) {
      if (!this.works(driver)) this.parts.log.debug({ driver }, 'power driver passed its self-test');
      this.failures.set(driver, 0);
    }
    for (const [driver, failures] of this.failures)
      if (!passed.has(driver) && failures < MOST_FAILURES) {
        this.failures.set(driver, failures + 1);
        if (failures + 1 === MOST_FAILURES)
          this.parts.log.error({ driver }, 'power driver is lost: install or repair its program on this host');
      }
    this.schedule();
    if (JSON.stringify([...this.failures]) !== before) this.changed();
  }

  private schedule(): void {
    if (this.stopped) return;
    this.timer?.cancel();
    const isWell = [...this.failures.values()].every((failures) => failures === 0);
    this.timer = this.parts.clock.after(isWell ? TEST_MS : RETEST_MS, () => {
      this.test().catch((error: unknown) => {
        this.parts.log.error(
          { reason: MusterError.from(error).message },
          'self-test of the power drivers broke off, and is tried again: where that lasts, restart this fencer',
        );
        this.schedule();
      });
    });
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  private which(is: (failures: number) => boolean): string[] {
    return [...this.failures].flatMap(([driver, failures]) => (is(failures) ? [driver] : []));
  }
}
