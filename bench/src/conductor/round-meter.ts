import type { Task } from '../../../apps/inventory/src/conductor/task.js';

/** What this process has computed so far, ms. */
export type CpuMs = () => number;

/**
 * Takes the processor time of rounds, each of which runs every task of the conductor once. The tasks of a round begin
 * together and run side by side: it lasts from the first begin until nobody runs any more, and counts where each task has run
 * once in it, and no task twice.
 */
export class RoundMeter {
  /** Of each round, ms. */
  readonly rounds: number[] = [];
  private readonly tasks = new Set<string>();
  private ran: string[] = [];
  private running = 0;
  private begunAt = 0;

  constructor(private readonly cpuMs: CpuMs) {}

  /** The same task, watched. */
  watch(task: Task): Task {
    this.tasks.add(task.name);
    return {
      ...task,
      reconciler: {
        reconcile: async (run) => {
          this.begin(task.name);
          try {
            await task.reconciler.reconcile(run);
          } finally {
            this.end();
          }
        },
      },
    };
  }

  private begin(name: string): void {
    if (this.running === 0) {
      this.ran = [];
      this.begunAt = this.cpuMs();
    }
    this.running += 1;
    this.ran.push(name);
  }

  private end(): void {
    this.running -= 1;
    if (this.running > 0) return;
    const isWhole = this.ran.length === this.tasks.size && new Set(this.ran).size === this.tasks.size;
    if (isWhole) this.rounds.push(this.cpuMs() - this.begunAt);
  }
}
