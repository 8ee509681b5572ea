import type { DetectorCondition } from '#contracts';
import type { Judgement } from '../verdicts/verdict.js';
import { lasting } from './sight.js';

/** ms for which a member has no verdict although the monitor sees: by then it is no start and no takeover. */
export const UNJUDGED_HOLD_MS = 5_000;
/** ms beyond the silence timeout for which a member is SUSPECT although the monitor sees: it is no death on its way. */
export const SUSPECT_HOLD_MS = 10_000;
/** Begins the reason where two machines use one name, which has an alarm of its own. */
const CONFLICT = 'CONFLICT';

/** Node → for how many ms it has been seen to have none, and whether that was reported already. */
export type UnjudgedFor = ReadonlyMap<string, { ms: number; reported: boolean }>;

/**
 * Members that are UNKNOWN, or stay SUSPECT, while enough of the others report: nobody hears them, and too few can say
 * that they are dead, or the monitor cannot look itself. Nothing will ever be done about such a node unless it is
 * reported. What is reported stays until the node is judged, whichever of the two it is meanwhile.
 * @param withoutQuorum too few report to judge anybody: that is the alarm then
 * @param passed ms since the last sample
 * @param silenceTimeoutMs ms of silence by which a node is reported down
 */
export function unjudged(
  members: readonly { name: string; judgement: Judgement }[],
  was: UnjudgedFor,
  withoutQuorum: boolean,
  passed: number,
  silenceTimeoutMs: number,
): { conditions: DetectorCondition[]; unjudgedFor: UnjudgedFor } {
  const unjudgedFor = new Map<string, { ms: number; reported: boolean }>();
  const conditions: DetectorCondition[] = [];
  for (const { name, judgement } of withoutQuorum ? [] : members) {
    const { verdict, reason } = judgement;
    if ((verdict !== 'UNKNOWN' && verdict !== 'SUSPECT') || reason.startsWith(CONFLICT)) continue;
    const before = was.get(name);
    const ms = lasting(before?.ms, passed);
    const reported =
      before?.reported === true ||
      ms >= (verdict === 'UNKNOWN' ? UNJUDGED_HOLD_MS : silenceTimeoutMs + SUSPECT_HOLD_MS);
    unjudgedFor.set(name, { ms, reported });
    if (reported)
      conditions.push({
        code: 'partly-heard',
        subject: name,
        severity: 'critical',
        message: `${name} is not judged, and not fenced. ${reason}`,
      });
  }
  return { conditions, unjudgedFor };
}
