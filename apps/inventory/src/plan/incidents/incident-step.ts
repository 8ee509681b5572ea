import { isOpenIncident, type GateCode, type GateResult, type IncidentRecord, type NodeRecord } from '#contracts';
import type { IncidentDecision } from '#domain/incident/decide-incident.js';
import { isWorthAnIncident } from '#domain/incident/candidates.js';
import { wasCommanded } from '#domain/incident/phases.js';
import { isWantedAlive, isWantedWhileHeard } from '#domain/incident/verdict-effect.js';

/**
 * An order by hand that a gate stops and nobody releases lapses after this, ms: it must not hang over a living node. So
 * does a forced release that its life stops: the gates that it passed would be open for its next silence. And so does
 * either that waits for a fencer's answer: hours later it would power off a node that has long been in use again.
 */
export const HELD_ORDER_LAPSES_MS = 600_000;

/** What keeps an incident where it is. */
export type IncidentWait =
  /** Its power devices are being asked whether they are its own. */
  | 'identity'
  /** After its `off` a gate stops: neither forward nor back. */
  | 'gate'
  /** It lives although it was ordered off: an order may still be carried out. */
  | 'quarantine'
  /** Its proof of off was contradicted. */
  | 'contradiction'
  /** The fencing leader has it. */
  | 'fencer'
  /** The wait after a failure. */
  | 'backoff';

/** A step that asks for no permit. */
export type DecidedStep =
  | { do: 'end'; reason: string }
  | { do: 'survive'; reason: string }
  /** `leftMs`: until the wait is over by itself; absent: something has to change. `gate`: the one that it waits for. */
  | { do: 'wait'; by: IncidentWait; reason: string; leftMs?: number; gate?: GateCode }
  | { do: 'suppress'; gate: GateResult; gates: GateResult[] };

/** The next step of an incident whose node is not yet proven off. */
export type IncidentStep = DecidedStep | { do: 'ask-permit'; gates: GateResult[] };

/** What the step looks at beside the gates; the ages are on the asker's own clock. */
export interface IncidentStepView {
  node: NodeRecord;
  /** Workloads are assigned to the node. */
  hasWorkloads: boolean;
  /** Until the last `off` can take effect no more, ms. */
  quarantineLeftMs: () => number;
  /** For how long the gate has stopped what a person wants, ms. */
  stoppedForMs: (gate: GateResult) => number;
  isContradicted: () => boolean;
  /** The gate that another node's power-off in doubt stops this one at. */
  collateral: () => GateResult | undefined;
  /** Until a fencing that failed is tried again, ms. */
  retryInMs: () => number;
  /** No fencer has answered yet whether its power devices are its own. */
  isIdentityUnanswered: () => boolean;
  /** For how long what a person wants has waited for that answer, ms. */
  unidentifiedForMs: () => number;
}

/** Pure: what becomes of an incident by what its gates and the verdict as of now say. */
export function incidentStep(i: IncidentRecord, d: IncidentDecision, v: IncidentStepView): IncidentStep {
  if (!isWorthAnIncident(v.node, v.hasWorkloads) && i.cause === 'auto')
    return { do: 'end', reason: `Its status is ${v.node.status}: there is nothing of it to recover.` };
  if (d.do === 'cancel') return { do: 'end', reason: d.reason };
  if (d.do === 'await-survival') {
    const leftMs = v.quarantineLeftMs();
    if (leftMs === 0) return { do: 'survive', reason: d.reason };
    return { do: 'wait', by: 'quarantine', reason: `${d.reason}; a power-off may still take effect`, leftMs };
  }
  if (d.do === 'hold') return { do: 'wait', by: 'gate', reason: d.reason, gate: d.gate.gate };
  if (d.do === 'suppress') {
    if (mayLapse(i, d.gate) && v.stoppedForMs(d.gate) >= HELD_ORDER_LAPSES_MS)
      return { do: 'end', reason: 'Nobody released the order within 10 min.' };
    return stoppedStep(i, d.gate, d.gates);
  }
  if (v.isContradicted())
    return {
      do: 'wait',
      by: 'contradiction',
      reason: 'The node speaks in the boot that its proof of off says has ended.',
    };
  const collateral = v.collateral();
  if (collateral !== undefined) return stoppedStep(i, collateral, withGate(d.gates, collateral));
  if (i.phase === 'fencing') return { do: 'wait', by: 'fencer', reason: 'The fencing leader powers it off.' };
  const leftMs = i.phase === 'failed' ? v.retryInMs() : 0;
  if (leftMs > 0) return { do: 'wait', by: 'backoff', reason: 'Its last fencing failed.', leftMs };
  // What was found hours ago is no word for now; and who does not answer this powers nothing off, either.
  if (needsIdentity(i) && v.isIdentityUnanswered()) return unidentifiedStep(i, v);
  return { do: 'ask-permit', gates: d.gates };
}

/** A verdict that changes ends every other one. */
function unidentifiedStep(i: IncidentRecord, v: Pick<IncidentStepView, 'unidentifiedForMs'>): DecidedStep {
  const wait = { do: 'wait' as const, by: 'identity' as const, reason: IDENTITY_UNANSWERED };
  if (!isWantedWhileHeard(i)) return wait;
  const leftMs = HELD_ORDER_LAPSES_MS - v.unidentifiedForMs();
  if (leftMs > 0) return { ...wait, leftMs };
  return { do: 'end', reason: 'No fencer answered within 10 min whether its power devices are its own.' };
}

const mayLapse = (i: IncidentRecord, { gate }: GateResult): boolean =>
  i.cause === 'manual' || (gate === 'LIFE_SIGN' && isWantedAlive(i));

export const IDENTITY_PENDING = 'Its power devices are being asked whether they are its own.';
export const IDENTITY_UNANSWERED = 'No fencer has answered yet whether its power devices are its own.';

/** Not yet ordered off, by a verdict or by hand: whose device it is must be known as of now, or asked for in vain. */
export const needsIdentity = (i: IncidentRecord): boolean => !wasCommanded(i) && i.phase !== 'fencing';

/** A gate stops it, its permit among them. */
export function stoppedStep(i: IncidentRecord, gate: GateResult, gates: GateResult[]): DecidedStep {
  const reason = `${gate.gate}: ${gate.detail}`;
  if (wasCommanded(i)) return { do: 'wait', by: 'gate', reason, gate: gate.gate };
  if (i.drill !== undefined) return { do: 'end', reason: `The drill was given up at ${reason}` };
  return { do: 'suppress', gate, gates };
}

const withGate = (gates: GateResult[], stops: GateResult): GateResult[] =>
  gates.map((g) => (g.gate === stops.gate ? stops : g));

/** What is to be done about a node that is DOWN as of now, or counts as DOWN. */
export type OpeningStep =
  /** It has an open incident, or needs none. */
  | 'none'
  /** Its last incident, which is over, stands for this silence, too. */
  | 'left-alone'
  /** It booted after its recovery and is down again: that incident is over. */
  | 'close'
  /** Its power devices are being asked whether they are its own. */
  | 'identity'
  /** An incident is opened, where the verdict as of now agrees. */
  | 'open';

export function openingStep(
  node: NodeRecord,
  last: IncidentRecord | undefined,
  v: { hasWorkloads: boolean; isLeftAlone: boolean; isIdentityPending: boolean },
): OpeningStep {
  if (last !== undefined && isOpenIncident(last)) {
    return last.phase === 'recovered' && isOfLaterBoot(node, last) ? 'close' : 'none';
  }
  if (v.isLeftAlone) return 'left-alone';
  if (!isWorthAnIncident(node, v.hasWorkloads)) return 'none';
  return v.isIdentityPending ? 'identity' : 'open';
}

/** A node that is on again by its own word alone has its boot in its verdict: its record names one once somebody hears it. */
function isOfLaterBoot(n: NodeRecord, { bootId }: IncidentRecord): boolean {
  const boot = (n.confirmedOff === undefined ? n.verdict?.bootId : undefined) ?? n.bootId;
  return boot !== undefined && boot !== bootId;
}
