import {
  phaseText,
  POWER_QUARANTINE_MS,
  type IncidentRecord,
  type PlanAgain,
  type PlanFigure,
  type PlanItem,
} from '#contracts';
import { isOrderPending } from '#domain/incident/order.js';
import { isAfterOff } from '#domain/incident/phases.js';
import { mayPower } from '#domain/power/may-power.js';
import { powerWish } from '#domain/power/power-wish.js';
import { collateralText } from '../power/collateral.js';
import { isSettledRecovery } from '../plan/recovery/recovery-line.js';
import { PERIOD_MS } from '../conductor/task.js';
import type { PlanFacts, PowerPreview } from './plan-facts.js';

export const quarantineFigure = (leftMs: number): PlanFigure => ({
  of: 'ms of the power quarantine',
  count: POWER_QUARANTINE_MS - leftMs,
  limit: POWER_QUARANTINE_MS,
});

/** Nodes that are proven off: their recovery, and their power until they are back. */
export function powerItems(f: PlanFacts): PlanItem[] {
  return f.power.flatMap((p) => [...recoveryItem(p), ...switchItem(p, f), ...backItem(p)]);
}

const item = (p: PowerPreview, o: Omit<PlanItem, 'name' | 'nodes'>): PlanItem[] => [
  { name: p.incident.node, nodes: [p.incident.node], ...o },
];

function recoveryItem(p: PowerPreview): PlanItem[] {
  const { incident: i, collateral } = p;
  const waits = (next: string, reason: string, again: PlanAgain): PlanItem[] =>
    item(p, { about: 'incident', does: 'waits', next, reason, again });
  const acts = (next: string, reason: string): PlanItem[] =>
    item(p, { about: 'incident', does: 'acts', next, reason, again: { inMs: PERIOD_MS } });
  if (!isAfterOff(i)) return [];
  if (p.isContradicted && i.phase !== 'recovered')
    return waits('recovers nothing more', doubtReason(i), {
      when: 'it speaks again, which voids its proof, or in another boot, or an operator has confirmed it',
    });
  if (i.phase === 'recovering') {
    const open = i.recovery.filter((r) => !isSettledRecovery(r));
    const named = open.map((r) => `${r.workload} is ${r.state}${r.to === undefined ? '' : ` on ${r.to}`}`);
    return waits('follows its recovery', named.length === 0 ? 'Nothing is left to recover.' : `${named.join(', ')}.`, {
      when: 'each of them runs, or is held by an alarm of its own',
    });
  }
  switch (collateral?.do) {
    case undefined:
      return [];
    case 'counts':
      return acts('recovers what ran there', 'Its power is proven off.');
    case 'wait':
      return waits(
        'recovers what ran there',
        collateral.sighted
          ? 'Its device is not proven to be its own: its word counts a moment later.'
          : 'Its device is not proven to be its own, and no detector with a quorum knows whether its power-off has hit another node.',
        { when: 'the wait is over and a detector has a quorum' },
      );
    case 'hold':
      return waits('recovers nothing', collateralText({ ...i, collateral: { at: 0, nodes: collateral.nodes } }), {
        when: 'they speak in their old boot, or an operator has confirmed it',
      });
    case 'anew':
      return acts('powers it off anew', 'Its device is proven only since its proof of off was held.');
    case 'clear':
      return acts('counts its proof', `${collateral.spoke.join(', ')} spoke in the old boot.`);
  }
}

/** A switching on, by the system or by an order: the fencing leader does it, when nothing stands against it. */
const doubtReason = ({ proof }: IncidentRecord): string =>
  proof?.doubt?.device === undefined
    ? 'The node has spoken in the boot that is called off.'
    : `Its device ${proof.doubt.device} was found to be another machine's.`;

function switchItem(p: PowerPreview, f: PlanFacts): PlanItem[] {
  const { incident: i, node, quarantineLeftMs: left } = p;
  const wish = powerWish(i);
  const waits = (next: string, reason: string, again: PlanAgain, figures?: PlanFigure[]): PlanItem[] =>
    item(p, { about: 'power', does: 'waits', next, reason, ...(figures && { figures }), again });
  if (wish === undefined || wish.verb === 'off') {
    if (!isOrderPending(i) || i.order === undefined) return [];
    const { action, by, reason } = i.order;
    return waits(`powers it ${action}`, `${by} ordered it (${reason}); first its incident, which is ${phaseText(i)}.`, {
      when: 'its incident needs its power no more',
    });
  }
  const next = wish.verb === 'soft' ? 'asks its system to shut down' : 'powers it on';
  const permission = mayPower(wish.orderer, f.fencing, node, f.wallMs);
  if (!permission.may) return waits(next, permission.detail, { when: 'that has changed' });
  if (wish.verb === 'on' && left > 0)
    return waits(next, 'A power-off may still take effect.', { inMs: left }, [quarantineFigure(left)]);
  return waits(next, 'The fencing leader does it now.', { when: 'it is done, or has failed' });
}

/** Recovered, and not yet back. */
function backItem(p: PowerPreview): PlanItem[] {
  const { incident: i, node } = p;
  if (i.phase !== 'recovered' || powerWish(i) !== undefined) return [];
  const stays = i.powerOn?.wanted === false && node?.confirmedOff !== undefined;
  return item(p, {
    about: 'incident',
    does: 'waits',
    next: 'closes the incident',
    reason: stays ? (i.powerOn?.detail ?? 'It stays off.') : 'Its work is recovered, and it is not back in service.',
    again: { when: stays ? 'it is powered on by hand, and back in service' : 'it is back in service' },
  });
}
