/** Work of which some must be alone on the machine: it waits for the rest to end, and keeps new work waiting. */
export class Quiet {
  private busy = 0;
  private alone = false;
  private waiting: { alone: boolean; begin: () => void }[] = [];

  /**
   * Runs `work` beside others, or with `alone` beside nobody, until it ends or calls `relax`. In the order in which they
   * came.
   */
  async run<T>(alone: boolean, work: (relax: () => void) => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.waiting.push({ alone, begin });
      this.next();
    });
    try {
      return await work(() => {
        // Nobody else can be alone: this work still counts as busy.
        this.alone = false;
        this.next();
      });
    } finally {
      this.busy -= 1;
      this.alone = false;
      this.next();
    }
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
