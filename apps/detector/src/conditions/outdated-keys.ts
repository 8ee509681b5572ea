import type { DetectorCondition } from '#contracts';
import { FLEET } from './sight.js';

/** ms for which the monitor may lack the fleet's keys: an exchange gives them to it in a second or two. */
export const OUTDATED_HOLD_MS = 10_000;

/**
 * The monitor cannot prove its own probes: nobody can be called DOWN, and no verdict tells of that.
 * @param outdatedFor ms; 0: it can
 */
export const keyConditions = (outdatedFor: number): DetectorCondition[] =>
  outdatedFor < OUTDATED_HOLD_MS
    ? []
    : [
        {
          code: 'agent-health',
          subject: FLEET,
          severity: 'critical',
          message:
            'The detector has not the keys that the agents go by: its own probes say nothing, nobody is called DOWN, and nobody is fenced. See muster agent key status.',
        },
      ];
