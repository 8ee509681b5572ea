import { alarmKey, type AlarmRecord, type NodeRecord } from '#contracts';
import { isDegraded } from '#domain/verdict/networks-out.js';
import { isActive } from '../../alarms/active.js';
import type { About } from '../../conductor/task.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { decideTogether, isDecided, type Decided } from '../each-record.js';
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
    const { made, failed } = nodesSilentAlone(fleet);
    const silent = made.map(degraded);
    return { holds: fresh && !sighted ? ['no-quorum', ...silent] : silent, failed };
  },
  plan: (fleet, ages) => {
    const { beacon, silentFor, fresh, sighted } = fleet.detector;
    const { nodes, active } = standing(fleet);
    const facts = {
      active,
      silentForMs: silentFor,
      beacon: beacon && {
        fresh,
        sighted,
        members: beacon.members,
        reporters: beacon.sightedReporters,
        ...(beacon.conditions && { conditions: beacon.conditions }),
      },
      noQuorumForMs: ages.of('no-quorum'),
      degradedForMs: (node: string) => ages.of(degraded(node)),
    };
    const { made, failed } = decideTogether(nodes, aboutIt, (some) => detectionAlarms({ ...facts, nodes: some }));
    // A node that could not be judged may be silent on any network.
    const isOver = (a: AlarmRecord): boolean =>
      isDecided(failed)(a) && (a.code !== 'network-down' || failed.length === 0);
    return [...failed, ...alarmIntents(fleet, detectionAlarmCodes, made, isOver)];
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
function nodesSilentAlone(fleet: Fleet): Decided<string> {
  const { nodes, active } = standing(fleet);
  return decideTogether(nodes, aboutIt, (some) => {
    const down = alarmedNetworks({ active, nodes: some });
    const isOfNetworks = (networks: readonly string[]): boolean => networks.every((network) => down.has(network));
    return some.filter((n) => isDegraded(n) && !isOfNetworks(n.verdict?.networks ?? [])).map((n) => n.name);
  });
}

const aboutIt = ({ name: node }: NodeRecord): About => ({ node });
