/** Work of which some must be alone on the machine: it waits for the rest to end, and keeps new work waiting. */
export class Quiet {
  private busy = 0;
  private alone = false;
  private waiting: { alone: boolean; begin: () => void }[] = [];

  /**
   * @param toCome how much of the work will be alone
   * @param over is called once, when the last of that has ended or has called `relax`; at once where there is none
   */
  constructor(
    private toCome = 0,
    private over?: () => void,
  ) {
    this.tell();
  }

  /** What was alone has come to nothing, and will be tried once more. */
  again(): void {
    this.toCome += 1;
  }

  /**
   * Runs `work` beside others, or with `alone` beside nobody, until it ends or calls `relax`. In the order in which they
   * came.
   */
  async run<T>(alone: boolean, work: (relax: () => void) => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.waiting.push({ alone, begin });
      this.next();
    });
    let wasAlone = alone;
    const relax = (): void => {
      // Nobody else can be alone: this work still counts as busy.
      this.alone = false;
      if (wasAlone) this.toCome -= 1;
      wasAlone = false;
      this.tell();
      this.next();
    };
    try {
      return await work(relax);
    } finally {
      this.busy -= 1;
      relax();
    }
  }

  private tell(): void {
    if (this.toCome > 0) return;
    this.over?.();
    this.over = undefined;
  }

  private next(): void {
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      if (this.alone || (first.alone && this.busy > 0)) return;
      this.waiting.shift();
      this.busy += 1;
      this.alone = first.alone;
      first.begin();
    }
  }
}
