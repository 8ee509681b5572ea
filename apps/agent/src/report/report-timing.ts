/** ms; changes that come together (many peers of a dead rack) leave in one report. */
const LEAST_GAP = 40;

/** When the next report is due: each period, and at once when what it says has changed. */
export class ReportTiming {
  private sentAt = -Infinity;
  private sentChanges = -1;

  constructor(private readonly period: () => number) {}

  /** `changes` grows with everything that others must hear at once. */
  due(now: number, changes: number): boolean {
    const age = now - this.sentAt;
    if (age < (changes === this.sentChanges ? this.period() : LEAST_GAP)) return false;
    this.sentAt = now;
    this.sentChanges = changes;
    return true;
  }
}
