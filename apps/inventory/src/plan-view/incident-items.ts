import { isOpenIncident, isPaused, type GateCode, type PlanAgain, type PlanFigure, type PlanItem } from '#contracts';
import { gateCount, type GateFacts } from '#domain/incident/gates.js';
import { AGAIN_MS } from '../plan/incidents/incident-facts.js';
import type { IncidentView, IncidentViews } from '../plan/incidents/incident-views.js';
import { IDENTITY_PENDING, type IncidentStep, type IncidentWait } from '../plan/incidents/incident-step.js';
import type { PlanFacts } from './plan-facts.js';
import { quarantineFigure } from './power-items.js';

/** What has to change before a gate lets an incident through. */
const passes: Readonly<Record<GateCode, string>> = {
  BLIND:
    'the detector has a quorum and calls it DOWN, and, with two members or one network, its power device has answered; or it is released with --force',
  NOT_FENCEABLE: 'the node may be fenced again, or the incident is released',
  ALREADY_OPEN: 'the other incident is over',
  LIFE_SIGN: 'nothing speaks for its life any more, or it is released with --force',
  BRAKE: 'fewer nodes are unhealthy and no storm holds it, or it is released',
  DOMAIN: 'its failure domain is back, or it is released',
  CAP: 'the oldest permit is 10 min old, or it is released',
  QUORUM: 'more servers of the bus answer',
  PAUSED: 'fencing is resumed',
  OBSERVE: 'the mode is enforce',
  FLAPPING: 'its oldest permit is 10 min old, or it is released',
};

/** Nodes that are dead and not yet fenced. */
export function incidentItems(f: PlanFacts): PlanItem[] {
  return [...f.incidents.opening.flatMap((o) => openingItem(o)), ...f.incidents.open.map((p) => openItem(p, f))];
}

function openingItem({ node, step, last }: IncidentViews['opening'][number]): PlanItem[] {
  const item = (does: 'acts' | 'waits', next: string, reason: string, again: PlanAgain): PlanItem[] => [
    { about: 'incident', name: node.name, nodes: [node.name], does, next, reason, again },
  ];
  const soon = { inMs: AGAIN_MS };
  switch (step) {
    case 'none':
      // One that is open has an item of its own.
      if (last !== undefined && isOpenIncident(last)) return [];
      return item(
        'waits',
        'opens an incident',
        `Its status is ${node.status}, and no workload is assigned to it: there is nothing to recover.`,
        { when: 'it is Allocated, or a workload is assigned to it' },
      );
    case 'open':
      return item('acts', 'opens an incident', 'It is DOWN, or counts as DOWN.', soon);
    case 'close':
      return item('acts', 'closes its incident', 'It booted after its recovery, and is down again.', soon);
    case 'identity':
      return item('waits', 'opens an incident', IDENTITY_PENDING, {
        when: 'the power devices have answered, or have failed to',
      });
    case 'left-alone':
      return item(
        'waits',
        'opens an incident',
        last?.takenBack === undefined
          ? 'Muster powered it on, or is about to: its boot grace is not over.'
          : `${last.takenBack.by} cancelled its incident: ${last.takenBack.reason}.`,
        { when: last?.takenBack === undefined ? 'it has booted, or the boot grace is over' : 'it is heard again' },
      );
  }
}

function openItem(p: IncidentView, f: PlanFacts): PlanItem {
  const { node } = p.incident;
  const would = p.enforced !== undefined;
  const step = p.enforced ?? p.step;
  const acts = step.do !== 'wait' && step.do !== 'suppress';
  const base = { about: 'incident' as const, name: node, nodes: [node] };
  // A verdict that ends it ends it in every mode.
  const does = would && step.do === p.step.do && acts ? 'acts' : would ? 'would' : acts ? 'acts' : 'waits';
  const said = stepText(step, node, does === 'would');
  // It is asked anew whose its devices are: what stopped it stands until that is known.
  const stopped = step.do === 'wait' && step.by === 'identity' ? p.incident.gate : undefined;
  const work = step.do === 'ask-permit' ? workText(f, node) : '';
  return {
    ...base,
    does,
    next: said.next,
    reason: `${said.reason}${work}${stopped === undefined ? '' : ` Until then it is blocked by ${stopped}.`}${does === 'would' ? ' The mode is observe.' : ''}`,
    ...(stopped !== undefined && { gate: stopped }),
    ...(step.do === 'wait' && step.gate !== undefined && { gate: step.gate, ...figuresOf(step.gate, p.facts) }),
    ...(step.do === 'suppress' && { gate: step.gate.gate, ...figuresOf(step.gate.gate, p.facts) }),
    ...(step.do === 'wait' && step.by === 'quarantine' && { figures: [quarantineFigure(step.leftMs ?? 0)] }),
    again: againOf(step, p.facts, f),
  };
}

function stepText(step: IncidentStep, node: string, would: boolean): { next: string; reason: string } {
  const verb = (base: string, third: string): string => (would ? `would ${base}` : third);
  switch (step.do) {
    case 'ask-permit':
      return { next: `${verb('power', 'powers')} ${node} off`, reason: 'All gates pass.' };
    case 'end':
      return { next: verb('cancel the incident', 'cancels the incident'), reason: step.reason };
    case 'survive':
      return { next: verb('end it as survived', 'ends it as survived'), reason: step.reason };
    case 'suppress':
      return would
        ? { next: `would be blocked by ${step.gate.gate}`, reason: step.gate.detail }
        : { next: `stays blocked by ${step.gate.gate}`, reason: step.gate.detail };
    case 'wait':
      return { next: verb(...afterWait[step.by](step.gate)), reason: sentence(step.reason) };
  }
}

/** What happens when the wait is over: behind "would", and by itself. */
const afterWait: Readonly<
  Record<IncidentWait, (gate: GateCode | undefined) => readonly [base: string, third: string]>
> = {
  identity: () => ['ask its power devices who they are', 'asks its power devices who they are'],
  gate: (gate) => [`stay at gate ${gate}`, `stays at gate ${gate}`],
  quarantine: () => ['end it as survived', 'ends it as survived'],
  contradiction: () => ['order nothing: its proof of off is in doubt', 'orders nothing: its proof of off is in doubt'],
  fencer: () => ['be powered off by the fencing leader', 'is powered off by the fencing leader'],
  backoff: () => ['be fenced again', 'is fenced again'],
};

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);

/** What a power-off is for. */
function workText(f: PlanFacts, node: string): string {
  const work = f.dead.filter((d) => d.from === node);
  if (work.length === 0) return ' Nothing is assigned to it.';
  const named = work.slice(0, 10).map((d) => `${d.workload} to ${d.place.to ?? 'no node: there is no room'}`);
  const more = work.length > 10 ? ` and ${work.length - 10} more` : '';
  return ` Once it is proven off, by the fleet as of now: ${named.join(', ')}${more}.`;
}

function figuresOf(gate: GateCode, facts: GateFacts | undefined): { figures?: PlanFigure[] } {
  const count = facts && gateCount(gate, facts);
  return count === undefined ? {} : { figures: [count] };
}

function againOf(step: IncidentStep, facts: GateFacts | undefined, f: PlanFacts): PlanAgain {
  if (step.do === 'wait') {
    if (step.leftMs !== undefined)
      return { inMs: step.leftMs, when: step.by === 'identity' ? waited.identity : 'the verdict on it changes' };
    return { inMs: AGAIN_MS, when: waited[step.by] };
  }
  if (step.do !== 'suppress') return { inMs: AGAIN_MS };
  return { inMs: heldForMs(step.gate.gate, facts, f) ?? AGAIN_MS, when: passes[step.gate.gate] };
}

const waited = {
  identity: 'the power devices have answered, or have failed to',
  gate: 'that gate passes, its power is proven off, or it is heard',
  quarantine: 'the quarantine is over',
  contradiction: 'it is silent, or its device is corrected',
  fencer: 'the fencer has proven it off, or has failed',
  backoff: 'the backoff is over',
} as const;

/** How long a gate stops at least; undefined: it may pass with the next look. */
function heldForMs(gate: GateCode, facts: GateFacts | undefined, f: PlanFacts): number | undefined {
  if (facts === undefined) return undefined;
  const count = gate === 'LIFE_SIGN' ? gateCount(gate, facts) : undefined;
  if (count !== undefined && count.count < count.limit) return count.limit - count.count;
  const { paused } = f.fencing;
  if (gate === 'PAUSED' && isPaused(paused, f.wallMs) && paused.until !== undefined) return paused.until - f.wallMs;
  if (gate !== 'BRAKE' && gate !== 'DOMAIN') return undefined;
  const ends = f.storms.find((s) => s.members.includes(facts.node.name) && s.resumesAt !== undefined)?.resumesAt;
  return ends === undefined ? undefined : Math.max(0, ends - f.wallMs);
}
