import type { DetectionSettings, DetectorCondition, VerdictKind } from '#contracts';
import { FLEET, isSeen, isUnseen, lasting, some } from './sight.js';

/** ms of silence, seen by the monitor, after which an agent has lost its voice rather than a few reports. */
export const SILENT_HOLD_MS = 10_000;
/** The same where the node loses probes on all networks: its reports come late, and by chance, ms. */
export const LOSSY_SILENT_HOLD_MS = 60_000;
/** Named one by one at most; more of them have a cause in common, and one alarm. */
export const MOST_NAMED = 10;

/** A member, as its reports are looked at. */
export interface AgentVoice {
  name: string;
  verdict: VerdictKind;
  /** DEGRADED on all of its networks: what keeps others from hearing it keeps its reports, and has an alarm. */
  heardWithGaps?: boolean;
  /** Most observers lose probes to it wherever it is not silent. */
  loses?: boolean;
  /** Of the last one, ms; absent: none has come since this process listens. */
  reportAgeMs?: number;
  /** It has spoken before, to us or by the registry to another detector. */
  hasReported: boolean;
}

/** Node → ms for which its silence has been seen. */
export type SilentFor = ReadonlyMap<string, number>;

/**
 * Members whose reports have stopped and that others still hear, so that no verdict tells of it, and the votes are lost
 * one by one: a way to NATS that is closed, or credentials that are no longer good. Time counts only while the node is
 * seen to live: what fails for many at once takes the monitor its quorum, and that is the alarm then.
 * @param n `bootGrace`: ms for one that has never reported
 * @param passed ms since the last round
 */
export function silentAgents(
  voices: readonly AgentVoice[],
  was: SilentFor,
  n: Pick<DetectionSettings, 'freshness'> & { bootGrace: number },
  passed: number,
): { conditions: DetectorCondition[]; silentFor: SilentFor } {
  const silentFor = new Map<string, number>();
  const held: string[] = [];
  for (const v of voices) {
    if (v.reportAgeMs !== undefined && v.reportAgeMs <= n.freshness) continue;
    if (v.heardWithGaps === true) continue;
    const before = was.get(v.name);
    if (isSeen(v)) silentFor.set(v.name, lasting(before, passed));
    else if (isUnseen(v) && before !== undefined) silentFor.set(v.name, before);
    const hold = v.loses === true ? LOSSY_SILENT_HOLD_MS : SILENT_HOLD_MS;
    if ((silentFor.get(v.name) ?? 0) >= (v.hasReported ? hold : n.bootGrace)) held.push(v.name);
  }
  return { conditions: conditionsOf(held.sort(), voices.length), silentFor };
}

function conditionsOf(silent: readonly string[], of: number): DetectorCondition[] {
  const why = `no report for more than ${SILENT_HOLD_MS / 1000} s, although others hear`;
  const condition = (subject: string, message: string): DetectorCondition => ({
    code: 'agent-health',
    subject,
    severity: 'warning',
    message,
  });
  if (silent.length > MOST_NAMED)
    return [condition(FLEET, `${silent.length} of ${of} agents have no vote: ${why} them: ${some(silent)}`)];
  return silent.map((name) => condition(name, `${name}: it has no vote: ${why} it`));
}
