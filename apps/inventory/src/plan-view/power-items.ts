import {
  phaseText,
  POWER_QUARANTINE_MS,
  type IncidentRecord,
  type PlanAgain,
  type PlanFigure,
  type PlanItem,
} from '#contracts';
import { isOrderPending } from '#domain/incident/pending-order.js';
import { isAfterOff } from '#domain/incident/phases.js';
import { mayPower } from '#domain/power/may-power.js';
import { powerWish } from '#domain/power/power-wish.js';
import { collateralText } from '../power/collateral.js';
import { VERDICT_WITHIN_MS } from '../plan/recovery/ended-boot.js';
import type { CollateralNews, CollateralNodes, ProofStep } from '../plan/recovery/proof-step.js';
import { isSettledRecovery } from '../plan/recovery/recovery-line.js';
import { PERIOD_MS } from '../conductor/task.js';
import type { ItemText, PlanFacts, PowerPreview } from './plan-facts.js';

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

const waits = (next: string, reason: string, when: string): ItemText => ({
  ...{ does: 'waits', next, reason, again: { when } },
});
const acts = (next: string, reason: string): ItemText => ({
  ...{ does: 'acts', next, reason, again: { inMs: PERIOD_MS } },
});

function recoveryItem(p: PowerPreview): PlanItem[] {
  const { incident: i, proof } = p;
  if (!isAfterOff(i)) return [];
  const is = (o: ItemText): PlanItem[] => item(p, { about: 'incident', ...o });
  if (p.isContradicted && i.phase !== 'recovered')
    return is(
      waits(
        'recovers nothing more',
        doubtReason(i),
        'it speaks again, which voids its proof, or in another boot, or an operator has confirmed it',
      ),
    );
  if (i.phase === 'recovering') {
    const open = i.recovery.filter((r) => !isSettledRecovery(r));
    const named = open.map((r) => `${r.workload} is ${r.state}${r.to === undefined ? '' : ` on ${r.to}`}`);
    const reason = named.length === 0 ? 'Nothing is left to recover.' : `${named.join(', ')}.`;
    return is(waits('follows its recovery', reason, 'each of them runs, or is held by an alarm of its own'));
  }
  return proof === undefined ? [] : is(ofProof(i, proof));
}

function ofProof(i: IncidentRecord, step: ProofStep): ItemText {
  switch (step.do) {
    case 'begin':
      return acts('recovers what ran there', 'Its power is proven off.');
    case 'judge':
      return acts('judges its drill', step.drill.detail);
    case 'wait':
      return step.for === 'drill'
        ? waits('judges its drill', drillReason(step.sighted), FLEET_SEEN)
        : waits('recovers what ran there', unprovenReason(step.sighted), FLEET_SEEN);
    case 'await-verdict':
      return waits(
        'recovers what ran there',
        'The node has just spoken in a boot after its power-off.',
        `a verdict says that it is on again, or it has been silent for ${VERDICT_WITHIN_MS / 1000} s`,
      );
    case 'held':
      return held(i, step.nodes);
    case 'note':
      return ofNews(i, step.collateral);
  }
}

function ofNews(i: IncidentRecord, news: CollateralNews): ItemText {
  switch (news.do) {
    case 'hold':
      return held(i, news.nodes);
    case 'anew':
      return acts('powers it off anew', `${news.why}.`);
    case 'clear':
      return acts('counts its proof', `${news.spoke.join(', ')} spoke in the old boot.`);
  }
}

const held = (i: IncidentRecord, nodes: CollateralNodes): ItemText =>
  waits(
    'recovers nothing',
    collateralText({ ...i, collateral: { at: 0, nodes } }),
    'they speak in their old boot, or an operator has confirmed it',
  );

const FLEET_SEEN = 'the wait is over and a detector has a quorum';

const drillReason = (sighted: boolean): string =>
  sighted
    ? 'Who falls silent with its power-off is seen a moment later.'
    : 'No detector with a quorum knows who fell silent with its power-off.';

const unprovenReason = (sighted: boolean): string =>
  sighted
    ? 'Its device is not proven to be its own: its word counts a moment later.'
    : 'Its device is not proven to be its own, and no detector with a quorum knows whether its power-off has hit another node.';

const doubtReason = ({ proof }: IncidentRecord): string =>
  proof?.doubt?.device === undefined
    ? 'The node has spoken in the boot that its proof of off says has ended.'
    : `Its device ${proof.doubt.device} was found to be another machine's.`;

const switches = { soft: 'asks its system to shut down', on: 'powers it on' } as const;

/** A switching on, by the system or by an order: the fencing leader does it, when nothing stands against it. */
function switchItem(p: PowerPreview, f: PlanFacts): PlanItem[] {
  const { incident: i, node, quarantineLeftMs: left } = p;
  const wish = powerWish(i);
  const waits = (next: string, reason: string, again: PlanAgain, figures?: PlanFigure[]): PlanItem[] =>
    item(p, { about: 'power', does: 'waits', next, reason, ...(figures && { figures }), again });
  if (wish === undefined || wish.verb === 'off') {
    if (!isOrderPending(i) || i.order === undefined) return [];
    const { action, by, reason } = i.order;
    return waits(switches[action], `${by} ordered it (${reason}). Its incident comes first: it is ${phaseText(i)}.`, {
      when: 'its incident is recovered or over',
    });
  }
  const next = switches[wish.verb];
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
