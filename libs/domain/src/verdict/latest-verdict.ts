import type { Beacon, NodeRecord, VerdictKind } from '#contracts';
import { isNewer } from './newer.js';

/**
 * The last word on a node that this process has heard: from the record, which follows the durable verdicts, or from
 * the beacon, which repeats every second what is not plainly up. The newer one counts.
 */
export function latestVerdict(
  node: Pick<NodeRecord, 'name' | 'verdict'>,
  beacon: Pick<Beacon, 'epoch' | 'seq' | 'notUp'> | undefined,
): VerdictKind | undefined {
  const stored = node.verdict;
  const told = beacon?.notUp[node.name];
  if (beacon === undefined || (stored !== undefined && stored.epoch > beacon.epoch)) return stored?.verdict;
  if (told === undefined) {
    // Not named by a beacon that is newer than the stored verdict: plainly up, or not judged.
    return stored?.verdict !== 'UP' && isNewer(beacon, stored) ? undefined : stored?.verdict;
  }
  if (stored !== undefined && isNewer(stored, { epoch: beacon.epoch, seq: told.seq })) return stored.verdict;
  return told.verdict;
}

/** SUSPECT and DOWN are faults; LEFT is a plan, UNKNOWN is the detector's own. */
export const isSilent = (v: VerdictKind | undefined): boolean => v === 'SUSPECT' || v === 'DOWN';
