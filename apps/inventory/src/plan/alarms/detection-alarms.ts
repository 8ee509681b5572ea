import {
  alarmKey,
  MOST_CONDITIONS,
  type AlarmCode,
  type AlarmRecord,
  type DetectorCondition,
  type NodeRecord,
} from '#contracts';
import { isMember } from '#domain/node/membership.js';
import { isMostOf, isSilentOn, networksDown } from '#domain/verdict/networks-out.js';
import { FLEET, type WantedAlarm } from '../../alarms/keep-alarms.js';
import { ownSilence } from '../../nodes/degraded-policy.js';

/** What the detector itself says beside its verdicts, with each beacon. */
const conditionCodes: readonly DetectorCondition['code'][] = [
  'link-down',
  'partly-heard',
  'link-quality',
  'auth-failure',
  'agent-health',
  'peer-list',
  'life-sign-weak',
];

/** Alarms that stand for what the detector sees: raised and cleared from here and nowhere else. */
export const detectionAlarmCodes: readonly AlarmCode[] = [
  ...conditionCodes,
  'blind',
  'detector-silent',
  'network-down',
  'node-degraded',
  'conflict',
];

/** A detector that has just begun has no quorum for two report periods: that is no news, ms. */
export const NO_QUORUM_AFTER_MS = 5_000;
/** A takeover of the detector's lease takes up to 8 s on one server: that is no news either, ms. */
export const SILENT_AFTER_MS = 10_000;
/** Verdicts of a network that fails come node by node: by then it is known whether it is the node or the network, ms. */
export const DEGRADED_AFTER_MS = 2_000;
/** Subject of `detector-silent`. */
const DETECTOR = 'detector';
/** Begins the reason of an UNKNOWN that two machines under one name have caused. */
const CONFLICT = 'CONFLICT';

/** Ages are on the asker's own clock. */
export interface DetectionFacts {
  /** ms without a beacon, since the asker began to look. */
  silentForMs: number;
  /** The last one; undefined: none was heard. */
  beacon:
    | {
        fresh: boolean;
        sighted: boolean;
        members: number;
        reporters: number;
        conditions?: readonly DetectorCondition[];
      }
    | undefined;
  /** ms that beacons have been saying that there is no quorum. */
  noQuorumForMs: number;
  nodes: readonly NodeRecord[];
  /** ms that the node has been DEGRADED. */
  degradedForMs(node: string): number;
  /** Those that are up now, by `<code>=<subject>`: what cannot be seen is not called over. */
  active: ReadonlyMap<string, Pick<AlarmRecord, 'code' | 'subject' | 'severity' | 'message'>>;
}

/** All alarms that the detector's word calls for, each subject once. */
export function detectionAlarms(f: DetectionFacts): WantedAlarm[] {
  const members = f.nodes.filter(isMember);
  const down = networkAlarms(f, members);
  return [
    ...sight(f, members.length > 0),
    ...down,
    ...degraded(f, members, new Set(down.map((a) => a.subject))),
    ...conflicts(f, members),
    ...conditions(f),
  ];
}

/** Networks with such an alarm: what their nodes miss is no node's own fault. */
export const alarmedNetworks = (f: Pick<DetectionFacts, 'nodes' | 'active'>): Set<string> =>
  new Set(networkAlarms(f, f.nodes.filter(isMember)).map((a) => a.subject));

function sight(f: DetectionFacts, hasMembers: boolean): WantedAlarm[] {
  // An installation without nodes has nobody to look at.
  if (!hasMembers) return [];
  if (f.silentForMs >= SILENT_AFTER_MS)
    return [
      {
        code: 'detector-silent',
        subject: DETECTOR,
        severity: 'critical',
        message: 'No detector is heard: every verdict is UNKNOWN, and nobody is fenced.',
      },
    ];
  const b = f.beacon;
  if (b?.fresh !== true) return kept(f, 'blind', FLEET);
  if (b.sighted || b.members === 0) return [];
  if (f.noQuorumForMs < NO_QUORUM_AFTER_MS) return kept(f, 'blind', FLEET);
  return [
    {
      code: 'blind',
      subject: FLEET,
      severity: 'critical',
      message: `Only ${b.reporters} of ${b.members} members report: every verdict is UNKNOWN, and nobody is fenced.`,
    },
  ];
}

/** More than half of the members that have the network, and at least two, are silent on it. */
function networkAlarms(f: Pick<DetectionFacts, 'active'>, members: readonly NodeRecord[]): WantedAlarm[] {
  const down = networksDown(members);
  const networks = [...new Set(members.flatMap((n) => Object.keys(n.networks)))].sort();
  return networks.flatMap((network) => {
    const on = members.filter((n) => network in n.networks);
    const silent = on.filter((n) => isSilentOn(n, network)).length;
    if (down.has(network))
      return [
        {
          code: 'network-down' as const,
          subject: network,
          severity: 'critical' as const,
          message: `Most of the ${on.length} nodes on network ${network} are silent on it: look at the network, not at the nodes.`,
        },
      ];
    return isMostOf(silent + on.filter(isUnseen).length, on.length) ? kept(f, 'network-down', network) : [];
  });
}

function degraded(f: DetectionFacts, members: readonly NodeRecord[], down: ReadonlySet<string>): WantedAlarm[] {
  return members.flatMap((n) => {
    if (isUnseen(n)) return kept(f, 'node-degraded', n.name);
    const own = ownSilence(n, down);
    if (own.length === 0) return [];
    if (f.degradedForMs(n.name) < DEGRADED_AFTER_MS) return kept(f, 'node-degraded', n.name);
    const message = `${n.name} is silent on ${own.join(', ')}.`;
    return [{ code: 'node-degraded' as const, subject: n.name, severity: 'warning' as const, message }];
  });
}

function conflicts(f: DetectionFacts, members: readonly NodeRecord[]): WantedAlarm[] {
  return members.flatMap((n) => {
    if (n.verdict?.verdict !== 'UNKNOWN') return [];
    const reason = n.verdict.reason ?? '';
    if (!reason.startsWith(CONFLICT)) return kept(f, 'conflict', n.name);
    const message = `${n.name} is not judged, and not fenced. ${reason}`;
    return [{ code: 'conflict' as const, subject: n.name, severity: 'critical' as const, message }];
  });
}

/**
 * What a fresh beacon carries, whether its detector is sighted or not; without one, and while a detector has not
 * looked for long enough, all stay as they are. A list that is full says nothing of what found no room on it.
 */
function conditions(f: DetectionFacts): WantedAlarm[] {
  const conditions = f.beacon?.fresh === true ? f.beacon.conditions : undefined;
  const wanted = (conditions ?? []).filter((c) => conditionCodes.includes(c.code));
  const carried = new Set(wanted.map((a) => alarmKey(a.code, a.subject)));
  if (conditions !== undefined && conditions.length < MOST_CONDITIONS) return wanted;
  const others = [...f.active.values()].filter(
    (a) => conditionCodes.some((code) => code === a.code) && !carried.has(alarmKey(a.code, a.subject)),
  );
  return [...wanted, ...others.map(({ code, subject, severity, message }) => ({ code, subject, severity, message }))];
}

/** Its links are not known now. */
const isUnseen = (n: NodeRecord): boolean => n.verdict?.verdict === 'UNKNOWN' || n.verdict?.verdict === 'SUSPECT';

/** As it is, where it is up. */
function kept(f: Pick<DetectionFacts, 'active'>, code: AlarmCode, subject: string): WantedAlarm[] {
  const was = f.active.get(alarmKey(code, subject));
  return was === undefined ? [] : [{ code, subject, severity: was.severity, message: was.message }];
}
