import {
  devicesMark,
  identityBasis,
  isKept,
  identityStanding,
  withIdentity,
  type IncidentRecord,
  type Maintenance,
  type NodeRecord,
  type PowerDevice,
  type RecoveryAssignment,
} from '#contracts';
import { withoutOrder } from '#domain/incident/pending-order.js';
import { go } from '#domain/incident/steps.js';
import { isAfterOff } from '#domain/incident/phases.js';
import { isOffByIncident } from '#domain/incident/proven-off.js';
import { stateAfter } from '#domain/node/state.js';
import { isHeardByRecord } from '#domain/verdict/heard.js';
import { provenBy } from './proof-doubt.js';

/**
 * The incident once its proof of off is void, since the node speaks in the boot that was to have ended, or its device is
 * another machine's: it has failed, and is judged anew. Undefined: there is no proof to be voided any more.
 * @param node as it is; undefined: it was deleted
 */
export function voided(i: IncidentRecord, node: NodeRecord | undefined, at: number): IncidentRecord | undefined {
  if (!isAfterOff(i)) return undefined;
  const { proof, powerOn: _void, collateral: _held, ...rest } = i;
  const text = `${against(i)}: that proves nothing. ${movedText(i.recovery)}`;
  const failed = go(rest, 'failed', text, at);
  delete failed.retryAt;
  const devices = devicesMark(node?.powerLevels ?? []);
  const contradiction = { at, ...(proof !== undefined && { proof }), devices, recovery: i.recovery };
  // What a drill has switched off is switched on again, whosever it is.
  if (i.drill !== undefined)
    return { ...failed, contradiction, drill: { ...i.drill, result: { ok: false, at, detail: text } } };
  return { ...withoutOrder(failed, 'The node was not off.'), contradiction };
}

/**
 * The incident whose devices were edited since their off, or proven only since its proof was held: they may have powered
 * off another machine before, so it has failed, and the node is powered off anew. Undefined: it goes on from that proof.
 * @param why which of these it is, for people
 * @param at wall clock, ms
 */
export function fencedAnew(i: IncidentRecord, why: string, at: number): IncidentRecord | undefined {
  if (i.phase !== 'fenced') return undefined;
  const { proof: _void, powerOn: _on, collateral: _held, ...rest } = i;
  const failed = go(rest, 'failed', `${why}: that proves nothing, so off anew.`, at);
  delete failed.retryAt;
  return failed;
}

/**
 * The node once a proof of its off is void: not off, to be checked, and the devices that called it off are taken for
 * another machine's until an administrator says otherwise, they are edited, or identity is proven.
 * @param at wall clock, for people
 */
export function notOff(n: NodeRecord, i: IncidentRecord, at: number): NodeRecord | undefined {
  const wasOff = isOffByIncident(n, i);
  const blamed = provenBy(i, n);
  // One that somebody answered for is blamed anew: the answer was given before it called this node off.
  const fresh = blamed.filter((d) => identityStanding(n, d) !== 'mismatch');
  if (!wasOff && fresh.length === 0) return undefined;
  let next = n;
  for (const d of fresh)
    next = withIdentity(next, d.id, {
      result: 'mismatch',
      at,
      why: 'it called the node off, which spoke on in the same boot',
      basis: identityBasis(d),
    });
  if (!wasOff) return next;
  const { confirmedOff: _off, ...rest } = next;
  return {
    ...rest,
    // No longer by this incident: the next proof of that is written down like the first.
    ...(n.maintenance?.incident === i.id && { maintenance: ofNoIncident(n.maintenance) }),
    ...(isHeardByRecord(n) && { state: stateAfter['proof-void'], prevState: n.state }),
    pendingReturn: n.pendingReturn ?? { reason: 'disappeared', at },
  };
}

/**
 * Why a fencing whose proof was contradicted is not tried again by itself: the same devices would prove the same. It is
 * over when they are edited, proven since, or an administrator answers for them. {@link notOff} has left none of them proven
 * or answered for, so that what they are now they became since: the clocks of two hosts are not compared. A person's error
 * says nothing of them.
 */
export function contradictedBy(i: IncidentRecord, node: NodeRecord): string | undefined {
  const c = i.contradiction;
  if (c === undefined || c.proof?.kind === 'manual' || c.devices !== devicesMark(node.powerLevels)) return undefined;
  const answered = (d: PowerDevice): boolean => ['proven', 'acknowledged'].includes(identityStanding(node, d));
  const blamed = (node.powerLevels[c.proof?.level ?? 0] ?? []).filter((d) => !answered(d));
  return blamed.length === 0 ? undefined : `${blamed.map((d) => d.id).join(' and ')} called it off while it spoke.`;
}

/** What became of what the node had, for people. */
export function movedText(recovery: readonly RecoveryAssignment[]): string {
  const kept = recovery.filter(isKept);
  const left = recovery.filter((r) => !isKept(r));
  const begun = left.filter((r) => r.to !== undefined && (r.state === 'running' || r.state === 'starting'));
  const rest = left.filter((r) => !begun.includes(r)).map((r) => r.workload);
  const started =
    begun.length === 0
      ? 'Nothing of it was started elsewhere.'
      : `Started elsewhere, and perhaps running twice: ${begun.map((r) => `${r.workload} on ${r.to}`).join(', ')}.`;
  const unstarted = rest.length === 0 || begun.length === 0 ? [] : `Not started: ${rest.join(', ')}.`;
  const [own] = kept;
  const stayed =
    own === undefined ? [] : `Kept by ${own.from}, which has come back: ${kept.map((r) => r.workload).join(', ')}.`;
  return [started, unstarted, stayed].flat().join(' ');
}

function against({ proof }: IncidentRecord): string {
  if (proof?.doubt?.device !== undefined)
    return `Its power device ${proof.doubt.device}, which has proven it off, is another machine's`;
  return proof?.kind === 'manual'
    ? `It speaks in the boot that ${proof.by ?? 'an operator'} confirmed down`
    : "It speaks in the boot that its proof of off says has ended, so its power device may be another machine's";
}

const ofNoIncident = ({ incident: _of, ...maintenance }: Maintenance): Maintenance => maintenance;
