import { MusterError, type Clock, type NodeProgress, type Timer } from '#contracts';

/** At most once a second … */
const PERIOD_MS = 1_000;
/** … and of large jobs so much less often that no more than this many nodes' progress is written in a second. */
const NODES_PER_SECOND = 100;

/** A name of a task is a line for people. */
const LONGEST_TASK = 120;

/** ms between two writes of the progress of so many nodes. */
export const writePeriod = (nodes: number): number => Math.max(PERIOD_MS, (nodes * 1_000) / NODES_PER_SECOND);

/** Keeps a job's record up to date on how far it is: what is new at the time, or nothing. */
export class ProgressWriter {
  private latest: Record<string, NodeProgress> = {};
  private written = '{}';
  private writing: Promise<void> | undefined;
  private readonly timer: Timer;

  constructor(
    clock: Clock,
    nodes: number,
    private readonly write: (progress: Record<string, NodeProgress>) => Promise<unknown>,
    private readonly onError: (error: MusterError) => void,
  ) {
    this.timer = clock.every(writePeriod(nodes), () => this.tick());
  }

  set(progress: Record<string, NodeProgress>): void {
    this.latest = Object.fromEntries(
      Object.entries(progress).map(([node, p]) => [node, { ...p, task: p.task.slice(0, LONGEST_TASK) }]),
    );
  }

  /** No further write begins; the one under way has ended. */
  async stop(): Promise<void> {
    this.timer.cancel();
    await this.writing;
  }

  private tick(): void {
    const text = JSON.stringify(this.latest);
    // A record that is slow to write is written less often, never twice at once.
    if (this.writing !== undefined || text === this.written) return;
    this.writing = this.write(this.latest)
      .then(
        () => void (this.written = text),
        (error: unknown) => this.onError(MusterError.from(error)),
      )
      .finally(() => (this.writing = undefined));
  }
}
