import { alarmKey } from '#contracts';
import { isDegraded } from '#domain/verdict/networks-out.js';
import { isActive } from '../../alarms/active.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { alarmIntents } from './alarm-intents.js';
import { detectionAlarmCodes, detectionAlarms, alarmedNetworks, type DetectionFacts } from './detection-alarms.js';

/** Beacons say that there is no quorum; a node is silent on a network that the others have. */
type DetectionCondition = 'no-quorum' | `degraded/${string}`;

/** The alarms about the detector, the networks and the names, as the detector says. */
export const alarmsOfDetection: Concern<DetectionCondition> = {
  // Through a gap nobody knows which nodes there are: what is up stays up.
  isKnown: ({ nodes, alarms }) => nodes.live && alarms.live,
  conditions: (fleet) => {
    const { fresh, sighted } = fleet.detector;
    const silent = nodesSilentAlone(fleet).map(degraded);
    return { holds: fresh && !sighted ? ['no-quorum', ...silent] : silent };
  },
  plan: (fleet, ages) => {
    const { beacon, silentFor, fresh, sighted } = fleet.detector;
    const wanted = detectionAlarms({
      ...standing(fleet),
      silentForMs: silentFor,
      beacon: beacon && {
        fresh,
        sighted,
        members: beacon.members,
        reporters: beacon.sightedReporters,
        ...(beacon.conditions && { conditions: beacon.conditions }),
      },
      noQuorumForMs: ages.of('no-quorum'),
      degradedForMs: (node) => ages.of(degraded(node)),
    });
    return alarmIntents(fleet, detectionAlarmCodes, wanted);
  },
};

const degraded = (node: string): DetectionCondition => `degraded/${node}`;

const standing = perFleet(({ nodes, alarms }: Fleet): Pick<DetectionFacts, 'nodes' | 'active'> => {
  const active = alarms.list.map((e) => e.value).filter(isActive);
  return {
    nodes: nodes.list.map((e) => e.value),
    active: new Map(active.map((a) => [alarmKey(a.code, a.subject), a])),
  };
});

/** A network that comes back does so node by node: each gets its time from then on. */
function nodesSilentAlone(fleet: Fleet): string[] {
  const facts = standing(fleet);
  const down = alarmedNetworks(facts);
  const isOfNetworks = (networks: readonly string[]): boolean => networks.every((network) => down.has(network));
  return facts.nodes.filter((n) => isDegraded(n) && !isOfNetworks(n.verdict?.networks ?? [])).map((n) => n.name);
}
