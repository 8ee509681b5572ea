import type { Beacon, BlindnessEnd, DetectorCondition } from '#contracts';
import { lacksQuorum } from './quorum.js';
import type { VerdictLog } from './verdict-log.js';

/** What is beside the verdicts takes time to be seen: until then a new leader says nothing of it, rather than that there is nothing, ms. */
const CONDITIONS_AFTER = 15_000;

export interface BeaconFacts {
  instance: string;
  verdicts: VerdictLog;
  /** M, and how many of them report freshly and healthily. */
  members: number;
  reporters: number;
  /** Why there is no quorum while there is none. */
  noQuorumBy: 'reports' | 'own';
  /** The last blindness by missing reports that has ended, while that is news. */
  blindnessEnded: BlindnessEnd | undefined;
  conditions: DetectorCondition[];
  /** For how long this instance has led, ms. */
  ledFor: number;
  /** Of the own probes. */
  keys: string[];
}

/** What the leader says of itself each second. */
export function beaconOf({
  instance,
  verdicts,
  members,
  reporters,
  noQuorumBy,
  blindnessEnded,
  conditions,
  ledFor,
  keys,
}: BeaconFacts): Beacon {
  const sighted = !lacksQuorum(reporters, members);
  return {
    epoch: verdicts.epoch,
    seq: verdicts.seq,
    instance,
    sighted,
    ...(!sighted && { blindBy: noQuorumBy }),
    ...(blindnessEnded !== undefined && { blindnessEnded }),
    members,
    sightedReporters: reporters,
    notUp: Object.fromEntries(
      verdicts.notUp().map(({ node, judgement, seq }) => [node, { verdict: judgement.verdict, seq }]),
    ),
    ...(ledFor >= CONDITIONS_AFTER && { conditions }),
    keys,
  };
}
