/** Where signals come from: the process, or a spec. */
interface Signals {
  on(signal: Ending, listener: () => void): unknown;
}
type Ending = 'SIGINT' | 'SIGTERM';
/** As a shell tells it of a program that a signal has ended. */
const codes: Record<Ending, number> = { SIGINT: 130, SIGTERM: 143 };

export interface InterruptionParts {
  signals: Signals;
  say: (line: string) => void;
  /** Ends the process with this code. */
  end: (code: number) => void;
}

/**
 * Tidies up what a run has started, once, whoever asks for it first: the run when it is through, or SIGINT or SIGTERM,
 * after which the process ends. From a signal on nothing new is started.
 */
export class Interruption {
  private by: Ending | undefined;
  private tidied: Promise<boolean> | undefined;
  private steps: readonly (() => Promise<unknown>)[] = [];

  constructor(private readonly parts: InterruptionParts) {
    for (const signal of Object.keys(codes) as Ending[]) parts.signals.on(signal, () => this.interrupt(signal));
  }

  /** @param steps one after the other; each knows by itself whether there is anything to do */
  tidiesBy(steps: readonly (() => Promise<unknown>)[]): void {
    this.steps = steps;
  }

  /** Before anything is started. @throws where a signal has come */
  check(): void {
    if (this.by !== undefined) throw new Error(`ended by ${this.by}`);
  }

  /** False: something is left, and was told. */
  tidy(): Promise<boolean> {
    this.tidied ??= this.all();
    return this.tidied;
  }

  private async all(): Promise<boolean> {
    let ok = true;
    for (const step of this.steps)
      try {
        await step();
      } catch (e) {
        ok = false;
        this.parts.say(`something is left: ${e instanceof Error ? e.message : String(e)}`);
      }
    return ok;
  }

  private interrupt(signal: Ending): void {
    if (this.by !== undefined) return;
    this.by = signal;
    this.parts.say(`${signal}: what was started is tidied up`);
    void this.tidy().then(() => this.parts.end(codes[signal]));
  }
}
