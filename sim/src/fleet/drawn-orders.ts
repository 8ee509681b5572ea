import type { GateCode } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import type { FleetEvent, FleetHistory, Order } from './fleet-event.js';

/** Nodes that something befalls of which their incidents come. */
export const struck = (h: Pick<FleetHistory, 'events'>): string[] =>
  h.events.flatMap((e) => {
    if (e.kind === 'death' || e.kind === 'hang') return [e.node];
    return e.kind === 'cut' ? e.nodes : [];
  });

/** A person lets a node go that a gate holds. */
export function letGo(dice: Dice, node: string, gate: GateCode, o: { force?: true } = {}): FleetEvent {
  const does: FleetEvent = { kind: 'order', at: 0, order: { what: 'release', node, ...o } };
  return { kind: 'after', at: 0, phase: 'suppressed', gate, node, inMs: 500 + dice.roll() * 4_000, does };
}

/**
 * Orders by a person's own word, of power and of jobs, and those of tools: in few histories, and beside all else.
 * @param fromMs before it nobody orders anything
 */
export function drawPersons(dice: Dice, h: FleetHistory, fromMs: number): FleetEvent[] {
  const at = fromMs + dice.roll() * (h.quietFrom - fromMs - 10_000);
  const node = dice.maybeOf(h.nodes) as string;
  const hit = dice.maybeOf(struck(h)) ?? node;
  const later = (ms: number): number => Math.min(h.quietFrom, at + ms);
  const order = (what: Order, atMs = at): FleetEvent => ({ kind: 'order', at: atMs, order: what });
  const drawn: FleetEvent[] = [];
  if (dice.chance(0.15))
    drawn.push(...h.nodes.map((n) => letGo(dice, n, dice.of(['LIFE_SIGN', 'LIFE_SIGN', 'BLIND']), { force: true })));
  if (dice.chance(0.12)) {
    const phase = dice.of(['investigating', 'suppressed', 'fencing', 'failed'] as const);
    const does = order({ what: 'confirm', node: hit, force: true }, 0);
    drawn.push({ kind: 'after', at: 0, phase, node: hit, inMs: dice.roll() * 3_000, does });
  }
  if (dice.chance(0.15)) {
    const does = order({ what: 'storm-confirm', ...(dice.chance(0.5) && { force: true }) }, 0);
    const inMs = 500 + dice.roll() * 4_000;
    const first = dice.of(h.nodes.slice(0, 3) as [string, ...string[]]);
    drawn.push({ kind: 'after', at: 0, phase: 'suppressed', gate: 'BRAKE', node: first, inMs, does });
  }
  if (dice.chance(0.06)) {
    const job = dice.of(['check', 'maintenance', 'resetup'] as const);
    drawn.push(order({ what: 'submit', job, node }), order({ what: 'cancel-job' }, later(dice.roll() * 2_500)));
  }
  if (dice.chance(0.06)) {
    const does = order({ what: 'cancel-job' }, 0);
    drawn.push({ kind: 'after', at: 0, phase: 'recovering', node: hit, inMs: dice.roll() * 1_500, does });
  }
  if (dice.chance(0.15))
    drawn.push(order({ what: 'command', command: dice.of(['check', 'maintenance', 'fence', 'events']), node }));
  if (dice.chance(0.1)) {
    const what = dice.of(['power-off', 'power-off', 'power-cycle'] as const);
    if (dice.chance(0.7)) drawn.push(letGo(dice, node, 'LIFE_SIGN', { force: true }));
    // Who was powered off by hand stays off, and may be forgotten.
    const then = what === 'power-off' ? dice.of(['power-on', 'replace', 'delete'] as const) : 'power-on';
    drawn.push(order({ what, node }), order({ what: then, node }, later(25_000 + dice.roll() * 20_000)));
  }
  if (dice.chance(0.08)) {
    // Neither is taken where work is left.
    const what = dice.of(['power-soft', 'drill'] as const);
    const then = 5_000 + dice.roll() * 7_000;
    drawn.push(order({ what: 'drain', node }), order({ what, node }, later(then)));
    if (what === 'power-soft')
      drawn.push(order({ what: 'power-on', node }, later(then + 8_000 + dice.roll() * 10_000)));
    drawn.push(order({ what: 'uncordon', node }, later(then + 30_000)));
  }
  if (dice.chance(0.08)) {
    // As a machine is taken out of service.
    const job = 'decommission';
    drawn.push(order({ what: 'drain', node }), order({ what: 'submit', job, node }, later(9_000)));
    drawn.push(order({ what: 'delete', node }, later(12_000 + dice.roll() * 20_000)));
  }
  return drawn;
}

export function drawOrder(dice: Dice, h: FleetHistory, at: number, node: string): FleetEvent[] {
  const end = Math.min(h.quietFrom, at + 3_000 + dice.roll() * 25_000);
  const order = (what: Order, then?: Order): FleetEvent[] => [
    { kind: 'order', at, order: what },
    ...(then === undefined ? [] : [{ kind: 'order' as const, at: end, order: then }]),
  ];
  switch (
    dice.weighted({
      person: 4,
      pause: 2,
      observe: 0.7,
      cordon: 2,
      drain: 2,
      submit: 4,
      claim: 1,
      'power-on': 1,
      fence: 0.7,
      'storm-release': 0.3,
    })
  ) {
    case 'person':
      return order({ what: dice.of(['confirm', 'release', 'cancel', 'delete']), node });
    case 'pause':
      return order({ what: 'pause', forMs: end - at });
    case 'observe':
      return order({ what: 'observe' }, { what: 'enforce' });
    case 'cordon':
      return order({ what: 'cordon', node }, { what: 'uncordon', node });
    case 'drain':
      return order({ what: 'drain', node }, { what: 'uncordon', node });
    case 'submit': {
      const job = dice.of(['check', 'maintenance', 'decommission', 'commission', 'resetup']);
      return order({ what: 'submit', job, node, ...(dice.chance(0.5) && { force: true }) });
    }
    case 'claim':
      return order({ what: 'claim' });
    case 'power-on':
      return order({ what: 'power-on', node });
    case 'fence':
      return order({ what: 'fence', node });
    case 'storm-release':
      return order({ what: 'storm-release' });
  }
}
