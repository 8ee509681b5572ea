import type { Run } from './command.js';
import { Failure } from '../failure/failure.js';
import { eventsOf } from '../server/event-stream.js';
import { NoServer } from '../server/ask.js';
import { Refusal } from '../server/server.js';

/** Looked at anew after so long also without an event: not every change makes one. */
const LOOK_AGAIN_MS = 1_000;

export interface Watched<T> {
  look: () => Promise<T>;
  /** Kinds of events, separated by commas, after which there may be something new. */
  kinds: string;
  concerns: (data: Record<string, unknown>) => boolean;
  /** Said on Ctrl-C, which ends the watching and nothing else. */
  goesOn: string;
}

/**
 * Looks at something that goes on by itself, until `show` says that it has ended. A server that goes away after the
 * first look is waited for.
 * @throws Refusal, NoServer
 */
export async function watch<T>(run: Run, o: Watched<T>, show: (seen: T) => boolean): Promise<T> {
  const wake = new Wake();
  const stop = new AbortController();
  const listening = listen(run, o, stop.signal, wake);
  const tell = (): void => run.terminal.note(`muster: ${o.goesOn}`);
  process.prependOnceListener('SIGINT', tell);
  const look = overOutages(run, o.look);
  try {
    for (;;) {
      const seen = await look();
      if (seen !== undefined && show(seen)) return seen;
      await wake.next(LOOK_AGAIN_MS);
    }
  } finally {
    process.removeListener('SIGINT', tell);
    stop.abort();
    await listening;
  }
}

/** Once something was seen, no answer is only a look without a result. */
function overOutages<T>(run: Run, look: () => Promise<T>): () => Promise<T | undefined> {
  let seen = false;
  let told = false;
  return async () => {
    try {
      const now = await look();
      seen = true;
      told = false;
      return now;
    } catch (error) {
      const away = error instanceof NoServer || (error instanceof Refusal && error.status === 503);
      if (!away || !seen) throw error;
      if (!told) run.terminal.note(`muster: ${error.message}; trying again`);
      told = true;
      return undefined;
    }
  };
}

/** What goes wrong here is found by looking again. */
async function listen<T>(run: Run, o: Watched<T>, signal: AbortSignal, wake: Wake): Promise<void> {
  try {
    for await (const event of eventsOf(run.server, `kind=${o.kinds}`, undefined, signal))
      if (o.concerns(event.data as Record<string, unknown>)) wake.now();
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Failure)) throw error;
    run.terminal.note(`muster: without live events: ${error.message}`);
  }
}

class Wake {
  private pending = false;
  private resolve: (() => void) | undefined;

  now(): void {
    this.pending = true;
    this.resolve?.();
  }

  async next(limitMs: number): Promise<void> {
    if (!this.pending) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
        timer = setTimeout(resolve, limitMs);
      });
      clearTimeout(timer);
      this.resolve = undefined;
    }
    this.pending = false;
  }
}
