import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import type { FetchVerdict } from '../intent.js';
import { hasMissedVerdict } from './missed-verdict.js';

/** A record that lags behind the beacon for this long has missed a verdict: normally it follows in milliseconds. */
export const MISSED_MS = 2000;

/** Verdicts that never arrived, by what beacons say. The conditions are the names of the nodes. */
export const verdictCatchUp: Concern<string> = {
  conditions: (fleet) => ({ holds: lagging(fleet) }),
  plan: (fleet, ages) =>
    lagging(fleet)
      .filter((node) => ages.of(node) >= MISSED_MS)
      .map((node): FetchVerdict => {
        const reason = 'The beacon of the detector knows a verdict that its record does not.';
        return { do: 'fetch-verdict', node, about: { node }, reason };
      }),
};

/** What a detector that does not see the fleet says is no verdict. */
function lagging({ detector: { sighted, beacon }, nodes }: Fleet): string[] {
  if (!sighted || beacon === undefined) return [];
  return nodes.list.flatMap(({ value: n }) => (hasMissedVerdict(n, beacon) ? [n.name] : []));
}
