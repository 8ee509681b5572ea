import type { Clock, Timer } from '#contracts/ports/clock.js';
import { asSentence, type RunningWorkload } from '#contracts/wire/report.js';
import { reasonOf, type AgentLog } from '../log/agent-log.js';

/** ms from the begin of a look to the next; the tool tells of its own starts and stops at once. */
const PERIOD = 3_000;
/** ms: at least so long between the end of a slow look and the next. */
const BREATH = 500;
/** ms: what a look saw that began longer ago is not known any more. A workload is moved by it after 10 s of absence. */
const KEEPS = 5_000;

/** Which workloads run here, looked at by a task of its own: a lister that hangs never delays a probe or a report. */
export class WorkloadWatch {
  private seen: { workloads: RunningWorkload[]; begunAt: number } | undefined;
  warning: string | undefined;
  private timer: Timer | undefined;
  private busy = false;
  private again = false;
  private stopped = false;

  constructor(
    private readonly list: () => Promise<RunningWorkload[]>,
    private readonly changed: () => void,
    private readonly clock: Clock,
    private readonly log: AgentLog,
  ) {}

  /** Undefined: not known (yet, no longer, or the lister failed); never to be read as "none". */
  get running(): RunningWorkload[] | undefined {
    return this.seen !== undefined && this.clock.monotonicMs() - this.seen.begunAt <= KEEPS
      ? this.seen.workloads
      : undefined;
  }

  /** Polls now; wishes during a poll become one more poll. */
  poll(): void {
    if (this.stopped) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    this.timer?.cancel();
    const begunAt = this.clock.monotonicMs();
    void this.once(begunAt).finally(() => {
      this.busy = false;
      const again = this.again;
      this.again = false;
      if (again) this.poll();
      else if (!this.stopped) {
        const wait = Math.max(BREATH, begunAt + PERIOD - this.clock.monotonicMs());
        this.timer = this.clock.after(wait, () => this.poll());
      }
    });
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private async once(begunAt: number): Promise<void> {
    const before = JSON.stringify(this.seen?.workloads);
    try {
      this.seen = { workloads: await this.list(), begunAt };
      this.warning = undefined;
    } catch (e) {
      this.seen = undefined;
      const reason = asSentence(reasonOf(e));
      if (this.warning === undefined) this.log.warn('the running workloads cannot be listed', { reason });
      this.warning = `workloads: ${reason}`;
    }
    if (JSON.stringify(this.seen?.workloads) !== before) this.changed();
  }
}
