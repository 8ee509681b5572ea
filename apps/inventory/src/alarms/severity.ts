import type { AlarmRecord } from '#contracts';

type Severity = AlarmRecord['severity'];

const RANK: Record<Severity, number> = { info: 0, warning: 1, critical: 2 };

/** More is worse. */
export const severityRank = (severity: Severity): number => RANK[severity];

/** The worst that the alarm has been since it was raised, where that is more than it is now. */
export function worstOf(was: AlarmRecord, severity: Severity): { worst?: Severity } {
  const worst = was.worst ?? was.severity;
  return severityRank(worst) > severityRank(severity) ? { worst } : {};
}
