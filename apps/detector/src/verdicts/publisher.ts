import { MusterError, type Verdict } from '#contracts';
import type { BusLog } from '#bus';
import type { VerdictLog } from './verdict-log.js';

/** Publishes what waits, durably and in order; what the bus did not take is tried again. */
export class VerdictPublisher {
  private busy = false;
  private again = false;

  constructor(
    private readonly verdicts: VerdictLog,
    private readonly publish: (v: Verdict) => Promise<void>,
    private readonly mayPublish: () => boolean,
    private readonly log: BusLog,
  ) {}

  run(): void {
    this.again = true;
    if (this.busy) return;
    this.busy = true;
    void this.drain().finally(() => (this.busy = false));
  }

  private async drain(): Promise<void> {
    while (this.again && this.mayPublish()) {
      this.again = false;
      await Promise.all(this.verdicts.waiting().map((v) => this.one(v)));
    }
  }

  private async one(v: Verdict): Promise<void> {
    try {
      await this.publish(v);
      this.verdicts.published(v);
    } catch (e) {
      this.log.warn(
        { node: v.node, verdict: v.verdict, why: MusterError.from(e).message },
        'verdict not yet published',
      );
    }
  }
}
