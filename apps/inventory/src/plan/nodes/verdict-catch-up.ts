import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';
import type { FetchVerdict } from '../intent.js';
import { hasMissedVerdict } from './missed-verdict.js';

/** A record that lags behind the beacon for this long has missed a verdict: normally it follows in milliseconds. */
export const MISSED_MS = 2000;

/** Verdicts that never arrived, by what beacons say. The conditions are the names of the nodes. */
export const verdictCatchUp: Concern<string> = {
  conditions: (fleet) => ({ holds: lagging(fleet).made }),
  plan: (fleet, ages) => {
    const { made, failed } = lagging(fleet);
    const missed = made.filter((node) => ages.of(node) >= MISSED_MS);
    return [
      ...failed,
      ...missed.map((node): FetchVerdict => {
        const reason = 'The beacon of the detector knows a verdict that its record does not.';
        return { do: 'fetch-verdict', node, about: { node }, reason };
      }),
    ];
  },
};

/** What a detector that does not see the fleet says is no verdict. */
const lagging = perFleet(({ detector: { sighted, beacon }, nodes }: Fleet): Decided<string> => {
  if (!sighted || beacon === undefined) return { made: [], failed: [] };
  return eachRecord(nodes.list, aboutNode, ({ key, value }) => (hasMissedVerdict(value, beacon) ? [key] : []));
});
