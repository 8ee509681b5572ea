import type { DetectorCondition } from '#contracts';
import type { Judgement } from '../verdicts/verdict.js';

/** ms for which a member has no verdict although the monitor sees: by then it is no start and no takeover. */
export const UNJUDGED_HOLD_MS = 5_000;
/** Begins the reason where two machines use one name, which has an alarm of its own. */
const CONFLICT = 'CONFLICT';

/** Node → ms for which it has been seen to have none. */
export type UnjudgedFor = ReadonlyMap<string, number>;

/**
 * Members that are UNKNOWN while enough of the others report: nobody hears them, and too few can say that they are dead.
 * Nothing will ever be done about such a node unless somebody is told.
 * @param blind too few report to judge anybody: that is the alarm then
 * @param passed ms since the last look
 */
export function unjudged(
  members: readonly { name: string; judgement: Judgement }[],
  was: UnjudgedFor,
  blind: boolean,
  passed: number,
): { conditions: DetectorCondition[]; unjudgedFor: UnjudgedFor } {
  const unjudgedFor = new Map<string, number>();
  const conditions: DetectorCondition[] = [];
  for (const { name, judgement } of blind ? [] : members) {
    if (judgement.verdict !== 'UNKNOWN' || judgement.reason.startsWith(CONFLICT)) continue;
    const before = was.get(name);
    const forMs = before === undefined ? 0 : before + passed;
    unjudgedFor.set(name, forMs);
    if (forMs >= UNJUDGED_HOLD_MS)
      conditions.push({
        code: 'partly-heard',
        subject: name,
        severity: 'critical',
        message: `${name} is not judged, and not fenced. ${judgement.reason}`,
      });
  }
  return { conditions, unjudgedFor };
}
