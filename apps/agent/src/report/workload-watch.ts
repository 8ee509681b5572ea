import type { RunningWorkload } from '#contracts/report.js';
import { reasonOf, type AgentLog } from '../log.js';

/** ms between two looks; the tool tells of its own starts and stops at once. */
const PERIOD = 3_000;

/** Which workloads run here, looked at by a task of its own: a lister that hangs never delays a probe or a report. */
export class WorkloadWatch {
  /** Undefined: not known (yet, or the lister failed); never to be read as "none". */
  running: RunningWorkload[] | undefined;
  warning: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private busy = false;
  private again = false;
  private stopped = false;

  constructor(
    private readonly list: () => Promise<RunningWorkload[]>,
    private readonly changed: () => void,
    private readonly log: AgentLog,
  ) {}

  /** Looks now; wishes during a look become one more look. */
  look(): void {
    if (this.stopped) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    clearTimeout(this.timer);
    void this.once().finally(() => {
      this.busy = false;
      const again = this.again;
      this.again = false;
      if (again) this.look();
      else if (!this.stopped) this.timer = setTimeout(() => this.look(), PERIOD);
    });
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async once(): Promise<void> {
    const before = JSON.stringify(this.running);
    try {
      this.running = await this.list();
      this.warning = undefined;
    } catch (e) {
      this.running = undefined;
      if (this.warning === undefined) this.log.warn('the running workloads cannot be listed', { reason: reasonOf(e) });
      this.warning = `workloads: ${reasonOf(e)}`;
    }
    if (JSON.stringify(this.running) !== before) this.changed();
  }
}
