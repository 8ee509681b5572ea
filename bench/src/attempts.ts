import type { EventEmitter } from 'node:events';
import type { FailedPart } from './metric.js';

/** What was wrong, and what was behind it. */
export function reasonOf(e: unknown): string {
  if (!(e instanceof Error)) return String(e);
  const own = e.message === '' ? e.name : e.message;
  return e.cause === undefined ? own : `${own}, because: ${reasonOf(e.cause)}`;
}

/** An error that nobody waits for would end the process, with all that was found so far. */
const STRAY = ['uncaughtException', 'unhandledRejection'] as const;

/** Parts of a bench, of which one that fails leaves the figures of the others. */
export class Attempts {
  readonly failed: FailedPart[] = [];
  /** Ends the part that runs; of parts within parts the innermost. */
  private fail: ((e: unknown) => void) | undefined;

  constructor(
    private readonly say: (line: string) => void,
    private readonly host: EventEmitter = process,
  ) {}

  /** Never rejects. An error that comes from nowhere while it runs is its own. One after the other, or one in another. */
  attempt = async (part: string, work: () => Promise<void>): Promise<void> => {
    const outer = this.fail;
    if (outer === undefined) for (const event of STRAY) this.host.on(event, this.stray);
    const stray = new Promise<never>((_resolve, reject) => (this.fail = reject));
    try {
      await Promise.race([work(), stray]);
    } catch (e) {
      const why = reasonOf(e);
      this.failed.push({ part, why });
      this.say(`${part} FAILED: ${why}`);
    } finally {
      this.fail = outer;
      if (outer === undefined) for (const event of STRAY) this.host.off(event, this.stray);
    }
  };

  private readonly stray = (e: unknown): void => this.fail?.(e);
}
