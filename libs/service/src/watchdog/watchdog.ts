import type { Stalled } from '#bus';
import type { Clock, Timer } from '#contracts';
import type { NotifyOrder } from './notify-socket.js';

/** Words that come in time also when one of them is lost. */
const WORDS_PER_LIMIT = 3;

export interface WatchdogParts {
  order: Pick<NotifyOrder, 'watchdogMs'>;
  clock: Pick<Clock, 'every'>;
  /** Tells the manager; may reject. */
  notify: (...words: string[]) => Promise<void>;
  /** Tasks that stand still now. */
  stalled: () => readonly Stalled[];
  /** One line, for people. */
  say: (line: string) => void;
}

/**
 * Keeps systemd's watchdog quiet while this process works: its event loop turns, and none of its tasks stands still.
 * Otherwise nothing is told, and systemd kills and restarts it: a process that cannot renew its lease, or cannot stand in,
 * is worse than one that is gone.
 */
export class Watchdog {
  private timer: Timer | undefined;
  private notifying = false;
  private ready = false;
  private complaint = '';

  constructor(private readonly p: WatchdogParts) {}

  /** The service is up. */
  started(): void {
    const { watchdogMs } = this.p.order;
    if (watchdogMs !== undefined)
      this.timer = this.p.clock.every(watchdogMs / WORDS_PER_LIMIT, () => this.check(), { background: true });
    void this.notify('--ready');
  }

  /**
   * It is going down: systemd has a limit of its own for that. Resolves when the word was heard, or could not be told:
   * who ends before takes the word along.
   */
  stopping(): Promise<void> {
    this.timer?.cancel();
    return this.notify('STOPPING=1');
  }

  private check(): void {
    const stalled = this.p.stalled();
    // One that was not heard to be ready is killed after its time to start.
    if (stalled.length === 0) void this.notify(this.ready ? 'WATCHDOG=1' : '--ready');
    const names = stalled.map(({ task, forMs }) => `${task} for ${Math.round(forMs / 1000)} s`);
    this.complain(
      stalled.length === 0 ? '' : 'stalled',
      `stands still: ${names.join(', ')}; systemd is not told that it works, and will restart it`,
    );
  }

  /** One word at a time: a manager that is slow is not to be drowned in them. */
  private async notify(word: string): Promise<void> {
    if (this.notifying && word !== 'STOPPING=1') return;
    this.notifying = true;
    try {
      await this.p.notify(word);
      if (word === '--ready') this.ready = true;
    } catch (error) {
      this.complain('unheard', (error as Error).message);
    } finally {
      this.notifying = false;
    }
  }

  /** Once per fault, not at each look. */
  private complain(fault: string, line: string): void {
    if (fault !== '' && fault !== this.complaint) this.p.say(line);
    this.complaint = fault;
  }
}
