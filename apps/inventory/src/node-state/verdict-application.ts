import type { NodeRecord, Verdict } from '#contracts';
import { isOnAgain } from '#domain/node/membership.js';
import { stateAfter } from '#domain/node/state.js';
import { isHeardVerdict } from '#domain/verdict/heard.js';
import { isNewer } from '#domain/verdict/newer.js';
import { withState } from '../nodes/node-status.js';
import { returnOf, type ReturnFacts } from '#domain/return/return.js';

/**
 * The node after a verdict; undefined: it changes nothing. Verdicts arrive at least once and in any order: (epoch, seq)
 * decides, and a late one is dropped. A life sign of another boot than the one that was ended says that the node was
 * switched on; one of the same boot does not, since it was on its way before the power went. Its own word in another
 * boot says so beside any verdict: a monitor that is blind for want of members would wait for it in a circle.
 */
export function applyVerdict(n: NodeRecord, v: Verdict, f: ReturnFacts): NodeRecord | undefined {
  if (!n.enrolled || !isNewer(v, n.verdict)) return undefined;
  const alive = isHeardVerdict(v.verdict);
  const isOff = n.confirmedOff !== undefined;
  const isOn = isOnAgain(n, v.bootId) && (alive || v.poweredOn === true);
  if (alive && isOff && !isOn) return withVerdict(n, v);

  let next = withVerdict(n, v);
  if (isOn) {
    const { confirmedOff: _on, ...rest } = next;
    next = rest;
  }
  const state = stateAfter[v.verdict];
  if (state !== undefined && state !== n.state) next = withState(next, state);
  if (!alive) return next;
  const back = returnOf(n, v, f);
  if (v.bootId !== undefined && v.bootId !== n.bootId) next = { ...next, bootId: v.bootId };
  return back === undefined ? next : { ...next, pendingReturn: back };
}

function withVerdict(n: NodeRecord, v: Verdict): NodeRecord {
  const { verdict, networks, epoch, seq, at, reason } = v;
  const bootId = v.bootId ?? n.verdict?.bootId;
  const { left } = v.evidence;
  return {
    ...n,
    verdict: {
      verdict,
      networks,
      epoch,
      seq,
      at,
      reason,
      ...(bootId !== undefined && { bootId }),
      ...(left && { left }),
    },
  };
}
