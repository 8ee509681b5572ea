import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '#contracts/ports/clock.js';
import { reasonOf, type AgentLog } from '../log/agent-log.js';
import { writeDurably } from '../peers/durable-file.js';

/** ms between two tries to write the number down where the disk did not take it. */
const RETRY = 60_000;

/**
 * The number of this start (epoch), larger than that of every start before. It is kept on disk; where that was lost (a
 * new system disk), or cannot be read, the wall clock's seconds stand in, for a fleet is never started once a second.
 *
 * A disk that is full or read-only is how hosts begin to fail: that is when they must be watched. The agent starts all
 * the same, warns, and goes on trying. Only where the clock stands still as well do two starts have the same number, and
 * the reports of the second count 10 s after the last of the first; in another boot it is taken for another machine
 * until then, and by agents that heard both for a minute.
 */
export class StartNumber {
  private unsaved: string | undefined;
  private timer: Timer | undefined;
  private stopped = false;

  private constructor(
    readonly epoch: number,
    private readonly file: string,
    private readonly clock: Clock,
    private readonly log: Pick<AgentLog, 'warn'>,
    private readonly retryMs: number,
  ) {}

  static async take(
    stateDir: string,
    clock: Clock,
    log: Pick<AgentLog, 'warn'>,
    retryMs = RETRY,
  ): Promise<StartNumber> {
    const file = join(stateDir, 'epoch');
    const { before, wrong } = await stored(file);
    if (wrong !== undefined) log.warn('the number of the last start cannot be read', { reason: wrong });
    const epoch = Math.max(before + 1, Math.floor(clock.wallMs() / 1000));
    const start = new StartNumber(epoch, file, clock, log, retryMs);
    await start.write();
    return start;
  }

  /** It is not on disk. */
  get warning(): string | undefined {
    return this.unsaved && `disk: the number of this start could not be written: ${this.unsaved}`;
  }

  /** Nothing is written any more. */
  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private async write(): Promise<void> {
    try {
      await writeDurably(this.file, `${this.epoch}\n`);
      this.unsaved = undefined;
    } catch (e) {
      const isNews = this.unsaved === undefined;
      this.unsaved = reasonOf(e);
      if (isNews) this.log.warn('the number of this start could not be written', { reason: this.unsaved });
      if (!this.stopped) this.timer = this.clock.after(this.retryMs, () => void this.write());
    }
  }
}

async function stored(file: string): Promise<{ before: number; wrong?: string }> {
  try {
    const value = Number((await readFile(file, 'utf8')).trim());
    return { before: Number.isSafeInteger(value) && value >= 0 ? value : 0 };
  } catch (e) {
    return (e as NodeJS.ErrnoException).code === 'ENOENT' ? { before: 0 } : { before: 0, wrong: reasonOf(e) };
  }
}
