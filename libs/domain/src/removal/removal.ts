import {
  MusterError,
  phaseText,
  type AgentRevocation,
  type AlarmCode,
  type ErrorCode,
  type Hold,
  type IncidentRecord,
  type NodeRecord,
} from '#contracts';
import { isOffByIncident } from '../incident/proven-off.js';
import { isServing } from '../node/roles.js';
import { bootAwaited } from '../power/boot-grace.js';
import { isHeardByRecord } from '../verdict/heard.js';

/** ms without a word from a node until nobody hears it, and at least two of its report periods. */
const UNHEARD_MS = 10_000;

export interface RemovalFacts {
  hold?: Hold | undefined;
  /** The node's incident, where one is open. */
  incident?: Pick<IncidentRecord, 'id' | 'phase' | 'gate' | 'powerOn' | 'commands' | 'bootId' | 'order'> | undefined;
  /** Why a command to its power may still take effect, where one may. */
  quarantined?: string | undefined;
  /** ms for which this process has listened, and had no report of it. */
  unheardMs: number;
  /** Of its agent, ms. */
  reportPeriod: number;
  /** Codes of the alarms that stand for it. */
  alarms: readonly AlarmCode[];
  /** Workloads that are assigned to it. */
  workloads: readonly string[];
}

/**
 * Why its incident keeps the node; undefined: it does not. Hardware that was proven off, and never comes back, may go
 * once what it ran was taken from it, nothing more is to come of its power, and nobody hears it. One that has spoken
 * since the proof stays: as long as its incident is open, what it may still run is started nowhere else.
 */
function keptBy(n: NodeRecord, i: NonNullable<RemovalFacts['incident']>, f: RemovalFacts): string | undefined {
  if (i.phase !== 'recovered') return `is ${phaseText(i)}`;
  if (!isOffByIncident(n, i)) return 'is recovered, and the node on its way back into service';
  if (i.powerOn?.wanted === true && i.powerOn.done !== true)
    return 'is recovered, and the node being switched on: where no fencer can do it, set fencing to observe';
  if (f.quarantined !== undefined) return `is recovered, yet ${f.quarantined}`;
  if (f.alarms.includes('conflict-power'))
    return 'is recovered, yet the node has spoken since it was proven off (alarm conflict-power)';
  const isJudgedAlive = n.state === 'Discovered' || isHeardByRecord(n);
  if (isJudgedAlive || f.unheardMs < Math.max(UNHEARD_MS, 2 * f.reportPeriod))
    return 'is recovered, yet the node may have been heard just now';
  if (n.enrolled && bootAwaited(i, n) !== undefined && !f.alarms.includes('boot-timeout'))
    return 'is recovered, and the node was switched on: it may be booting';
  return undefined;
}

/** A row of what a removal requires. */
interface RemovalRule {
  code: ErrorCode;
  /** What stands against it, in a sentence, with the facts for programs; undefined: nothing. */
  against: (n: NodeRecord, f: RemovalFacts) => { text: string; facts?: object } | undefined;
}

/** What a removal requires, in order: the first that is not so is told. */
const removalRules: readonly RemovalRule[] = [
  {
    code: 'NODE_RESERVED',
    against: (n, { hold }) =>
      hold && { text: `${n.name} is held by ${hold.job ?? hold.edit ?? hold.claim}`, facts: { ...hold } },
  },
  {
    code: 'NODE_BUSY',
    against: (n, f) => {
      const kept = f.incident && keptBy(n, f.incident, f);
      if (f.incident === undefined || kept === undefined) return undefined;
      return {
        text: `${n.name} has an open incident: ${f.incident.id} ${kept}`,
        facts: { incident: f.incident.id },
      };
    },
  },
  {
    code: 'WORKLOADS_PRESENT',
    against: (n, { workloads }) =>
      workloads.length > 0
        ? { text: `${n.name} has workloads: ${workloads.join(' ')}`, facts: { workloads } }
        : undefined,
  },
  {
    code: 'ILLEGAL_TRANSITION',
    against: (n) =>
      isServing(n) ? { text: `${n.name} is Allocated and Discovered: decommission it first` } : undefined,
  },
];

/**
 * Why the node cannot be forgotten, or give its place to new hardware; undefined: it can. A node that serves is
 * decommissioned first, one that is gone may go.
 */
export function refusedRemoval(n: NodeRecord, f: RemovalFacts): MusterError | undefined {
  for (const { code, against } of removalRules) {
    const found = against(n, f);
    if (found !== undefined) return new MusterError(code, found.text, { node: n.name, ...found.facts });
  }
  return undefined;
}

/** What a removal does beyond taking the record and the passwords of its devices away. */
interface RemovalEffect {
  /** Why its agent is shut out. */
  reason: string;
  /** Asked again as the record goes: a node that was heard since stays. */
  unlessServing: boolean;
}

const removalEffects = {
  deletion: { reason: 'its node was deleted', unlessServing: true },
  // The new record is written first: what was decided is carried out, whoever is heard meanwhile.
  replacement: { reason: 'its node was replaced', unlessServing: false },
} satisfies Record<string, RemovalEffect>;

/** A removal as it is written down before it is carried out. */
export interface Removal {
  kind: 'delete';
  name: string;
  shutsOut: AgentRevocation;
  unlessServing?: true;
}

/** @param at wall clock, for people */
export function removalOf(node: string, why: keyof typeof removalEffects, by: string, at: number): Removal {
  const { reason, unlessServing } = removalEffects[why];
  const shutsOut = { node, by, at, reason };
  return { kind: 'delete', name: node, shutsOut, ...(unlessServing && { unlessServing }) };
}
