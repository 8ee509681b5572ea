import type { GateResult, IncidentRecord, Verdict } from '#contracts';
import { mayCancel, wasCommanded } from './phases.js';
import { isDownByPolicy, verdictEffect } from './verdict-effect.js';
import { askGates, gateTable, stoppingGate, type GateFacts } from './gates.js';
import { heldAt, isLatching } from './storm.js';

/** What is to become of an incident that is not yet fenced, by the facts as of now. */
export type IncidentDecision = { gates: GateResult[] } & (
  | { do: 'fence' }
  | { do: 'suppress'; gate: GateResult }
  | { do: 'cancel'; reason: string }
  /** UP after a command: ends as survived once the power quarantine is over; until then nothing new is ordered. */
  | { do: 'await-survival'; reason: string }
  /** Neither forward nor back: after a command with a gate that stops, or through a gap before the first one. */
  | { do: 'hold'; gate: GateResult; reason: string }
);

const GAP = 'A view of the records has a gap: it is not known whether a storm holds it.';

const latches = ({ gate }: GateResult): boolean => isLatching(gate);

/**
 * @param permitted the incident has its permit: brake, domain, cap and flapping were answered with it
 */
export function decideIncident(i: IncidentRecord, f: GateFacts, permitted: boolean): IncidentDecision {
  const gates = askGates(f);
  const v: Pick<Verdict, 'verdict' | 'reason' | 'bootId'> = f.verdict ?? {
    verdict: 'UNKNOWN',
    reason: 'no detector answers',
  };
  const effect = verdictEffect(i, v);
  const policy = f.settings?.degraded.policy ?? 'down';
  const byPolicy = isDownByPolicy(i, v.verdict) && i.cause === 'auto';
  if (effect.kind === 'stands' && byPolicy && policy !== 'down')
    if (mayCancel(i) && i.released?.force !== true)
      return { do: 'cancel', reason: `the policy for DEGRADED nodes is ${policy} now`, gates };
  if (effect.kind === 'cancel') return { do: 'cancel', reason: effect.reason, gates };
  if (effect.kind === 'survived-after-quarantine') return { do: 'await-survival', reason: effect.reason, gates };
  // A storm that was tripped after the permit holds, too, who has not been ordered off.
  const held = wasCommanded(i) ? [] : heldAt(f.storm, f.node.name);
  const asked = permitted ? gates.filter((g) => gateTable[g.gate].askedAgain || held.includes(g.gate)) : gates;
  const stopped = stoppingGate(asked, i.released?.gates, f);
  // A storm may have been tripped behind the gap; the permit does not answer for that.
  const unseen =
    f.storm === undefined && !wasCommanded(i) ? stoppingGate(gates.filter(latches), i.released?.gates) : undefined;
  if (stopped === undefined && unseen !== undefined) return { do: 'hold', gate: unseen, reason: GAP, gates };
  if (stopped === undefined) return { do: 'fence', gates };
  if (wasCommanded(i)) return { do: 'hold', gate: stopped, reason: `${stopped.gate}: ${stopped.detail}`, gates };
  return { do: 'suppress', gate: stopped, gates };
}
