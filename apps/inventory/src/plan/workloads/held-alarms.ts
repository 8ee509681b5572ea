import type { AlarmRecord } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';

/** What one round over all workloads has to tell of. */
export class HeldAlarms {
  private readonly seen = new Map<string, WantedAlarm>();
  private readonly certain = new Map<string, WantedAlarm>();
  private readonly failed = new Map<string, WantedAlarm>();
  private readonly young = new Set<string>();

  /** It follows from what others tell: while they may not have spoken yet, it is no news. */
  set(workload: string, alarm: WantedAlarm): void {
    this.seen.set(workload, alarm);
  }

  /** It stands in the records. */
  setCertain(workload: string, alarm: WantedAlarm): void {
    this.certain.set(workload, alarm);
  }

  /** What was tried has failed. What stands in the way now says more. */
  setFailed(workload: string, alarm: WantedAlarm): void {
    this.failed.set(workload, alarm);
  }

  /** Something hinders it, for too short a time to be told of: an alarm that stands already is not over by that. */
  tooYoung(workload: string): void {
    this.young.add(workload);
  }

  /** @param settled all who live have been heard, or had time enough */
  wanted(settled: boolean): WantedAlarm[] {
    return [...new Map([...this.failed, ...(settled ? this.seen : []), ...this.certain]).values()];
  }

  /** May this one be cleared, as nobody wants it any more? */
  isOver(a: Pick<AlarmRecord, 'subject'>, settled: boolean): boolean {
    return settled && !this.young.has(a.subject);
  }
}
