import { MAX_LINE } from '#bus/streams/line-splitter.js';
import type { Clock, Timer } from '#contracts';

/** A batch goes out at this many characters … */
const BATCH_CHARS = 64 * 1024;
/** … or this long after its first line, ms. */
const BATCH_MS = 50;

/**
 * Lines of a run into a job's log, in batches. It never holds the run up: what cannot be written yet waits here, and
 * whoever reads the log reads it from the stream.
 */
export class LogWriter {
  private pending: string[] = [];
  private size = 0;
  private timer: Timer | undefined;
  private sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly clock: Clock,
    private readonly append: (text: string) => Promise<void>,
    private readonly mask: (text: string) => string,
    private readonly onLost: (error: unknown) => void,
  ) {}

  line(text: string): void {
    // A piece of this very length is the front of a longer line: no newline belongs here.
    const piece = this.mask(text) + (text.length === MAX_LINE ? '' : '\n');
    this.pending.push(piece);
    this.size += piece.length;
    if (this.size >= BATCH_CHARS) this.send();
    else this.timer ??= this.clock.after(BATCH_MS, () => this.send());
  }

  /** Resolves when everything has been written, or was told to be lost. */
  async flush(): Promise<void> {
    this.send();
    await this.sending;
  }

  private send(): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (this.pending.length === 0) return;
    const text = this.pending.join('');
    this.pending = [];
    this.size = 0;
    this.sending = this.sending.then(() => this.append(text)).catch((error: unknown) => this.onLost(error));
  }
}
