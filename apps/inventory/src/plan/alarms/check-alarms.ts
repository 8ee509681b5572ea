import { heldAlarm, type AlarmCode, type AlarmRecord, type NodeRecord, type PendingReturn } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import { isInForce, verdictOf } from '../../nodes/accepted-drift.js';
import { alarmIntents } from './alarm-intents.js';
import type { Concern } from '../concern.js';
import { eachRecord, isDecided } from '../each-record.js';

/** Raised and cleared from here and nowhere else. */
export const checkAlarmCodes: readonly AlarmCode[] = [
  'drift',
  'resetup-failed',
  'flapping',
  'check-unreachable',
  'check-failed',
];
/** Failed tries after which a check that ssh does not get there with is told: sshd may only be starting. */
const UNREACHED_TRIES = 3;

/** The same of one that could not be carried out otherwise. */
const FAILED_TRIES = 3;

type CheckAlarm = Pick<AlarmRecord, 'code' | 'severity' | 'message'>;

/** One alarm for each return that waits for an operator or for ssh, and for what the check of a healthy node has found. */
export const checkAlarms: Concern = {
  plan: (fleet) => {
    const { made, failed } = eachRecord(
      fleet.nodes.list,
      ({ key: node }) => ({ node }),
      ({ key: subject, value: n }): WantedAlarm[] => {
        const { pendingReturn } = n;
        const alarm =
          pendingReturn === undefined ? standingAlarm(n, fleet.wallMs) : returnAlarm(subject, pendingReturn);
        return alarm === undefined ? [] : [{ ...alarm, subject }];
      },
    );
    return [...failed, ...alarmIntents(fleet, checkAlarmCodes, made, isDecided(failed))];
  },
};

function ofHeld(node: string, held: string): CheckAlarm {
  const code = heldAlarm(held);
  const severity = code === 'resetup-failed' ? 'critical' : 'warning';
  return { code, severity, message: `${node} is out of service: ${held}` };
}

/** What is to be said of a node that is back and does not serve; undefined: nothing. */
export function returnAlarm(node: string, p: PendingReturn | undefined): CheckAlarm | undefined {
  if (p?.held !== undefined) return ofHeld(node, p.held);
  if (p?.unreached === undefined) return failedAlarm(node, p);
  const { tries, why } = p.unreached;
  if (tries < UNREACHED_TRIES) return undefined;
  return {
    code: 'check-unreachable',
    severity: 'warning',
    message: `${node} is back and is heard, but ssh did not get its check there ${tries} times: ${why}. It is tried again every minute at the latest; until one gets there the node is out of service.`,
  };
}

function failedAlarm(node: string, p: PendingReturn | undefined): CheckAlarm | undefined {
  if (p?.failedTries === undefined || p.failedTries < FAILED_TRIES) return undefined;
  return {
    code: 'check-failed',
    severity: 'warning',
    message: `${node} is back, and its check could not be carried out ${p.failedTries} times: ${p.failedWhy ?? 'see its last check'}. It is tried again every five minutes at the latest; until one passes the node is out of service.`,
  };
}

/**
 * What is to be said of a node that nothing is pending for, by its last check: nobody but an operator does anything
 * about it.
 * @param at wall clock, ms: what was accepted may have ended
 */
export function standingAlarm(n: NodeRecord, at: number): CheckAlarm | undefined {
  const last = n.lastCheck;
  if (last === undefined || n.status !== 'Allocated') return undefined;
  const { outcome, why } = verdictOf(n, last, at);
  if (outcome === 'pass') return undefined;
  if (outcome === 'drift') {
    const isBroken = last.check?.findings.some((f) => f.result === 'broken') === true;
    return {
      code: 'drift',
      severity: isBroken ? 'critical' : 'warning',
      message: `${n.name} was checked while nothing was the matter with it: ${why}. Nothing was changed there, and it is not out of service for this.${acceptedText(n, at)}`,
    };
  }
  if ((last.failed ?? 0) < FAILED_TRIES) return undefined;
  return last.unreachable === true
    ? {
        code: 'check-unreachable',
        severity: 'warning',
        message: `${n.name} is heard, but ssh does not get its checks there: ${why}. It is not out of service for this.`,
      }
    : {
        code: 'check-failed',
        severity: 'warning',
        message: `The checks of ${n.name} cannot be carried out: ${why}. It is not out of service for this.`,
      };
}

/** What is told again was accepted before, or is told beside what is. */
function acceptedText({ acceptedDrift: a }: NodeRecord, at: number): string {
  if (a === undefined) return '';
  const who = `${a.by} (${a.reason})`;
  return isInForce(a, at) ? ` It is not what was accepted by ${who}.` : ` What was accepted by ${who} has ended.`;
}
