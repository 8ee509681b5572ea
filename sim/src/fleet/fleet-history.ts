import { defaultFencing, defaultStorm, type StormLimits } from '#contracts';
import { StormNumbers } from '#domain/incident/storm-counts.js';
import type { Dice } from '#contracts/testing/dice.js';
import { diceOf } from '../time/seeded-random.js';
import type { FleetEvent, FleetHistory, Order } from './fleet-event.js';
import { drawOrder, drawPersons, letGo, struck } from './drawn-orders.js';

/** Until everybody has begun, and the fleet is in service, nothing befalls anybody, ms. */
export const BEGUN_MS = 15_000;

/** A host that is no node of the fleet. */
const CONTROL = 'control-1';

const HOUR_MS = 3_600_000;

const names = (what: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${what}-${i + 1}`);

/** Of as many nodes as may be silent at once each may be fenced twice. */
export const limitsOf = (brakeAtLeast: number): StormLimits => ({
  ...defaultStorm,
  brakeAtLeast,
  capAtLeast: Math.max(defaultStorm.capAtLeast, 2 * brakeAtLeast),
});

/** One quiet fleet, into which a history puts its events: each node but the last runs one workload. */
export function quietFleet(
  name: string,
  seed: number,
  o: Partial<FleetHistory> & { size?: number } = {},
): FleetHistory {
  const { size = 4, ...more } = o;
  const nodes = names('n', size);
  return {
    name,
    seed,
    nodes,
    workloads: Object.fromEntries(nodes.slice(0, -1).map((node, i) => [`w${i + 1}`, node])),
    ungated: {},
    tireless: [],
    tellGuid: [],
    wires: {},
    storm: limitsOf(defaultStorm.brakeAtLeast),
    hung: defaultFencing.hung,
    domains: {},
    brokers: [CONTROL],
    inventories: names('inventory', 2),
    fencers: names('fencer', 2),
    provisioners: names('provisioner', 2),
    events: [],
    quietFrom: 60_000,
    lostAnswers: 0,
    server: '2.15.1',
    crashes: 0,
    ...more,
  };
}

/** A random fleet and what befalls it. The same seed and index give the same one. */
export function drawFleet(seed: number, index: number): FleetHistory {
  const dice = diceOf(seed, `fleet ${index}`);
  const quietFrom = 83_000 + dice.roll() * 70_000;
  const h = quietFleet(`random ${index}`, seed * 1_000_003 + index, {
    size: dice.of([4, 5, 6, 8]),
    // With few nodes, and many deaths, the brake would stop most of what is to be played.
    storm: limitsOf(dice.of([2, 4, 5])),
    quietFrom,
    lostAnswers: dice.of([0, 0, 0.002, 0.01]),
    crashes: dice.of([0, 0, 0.0001, 0.0005]),
    server: dice.of(['2.9.10', '2.15.1']),
  });
  const many = 2 + dice.below(8);
  for (let i = 0; i < many; i++) h.events.push(...drawEvents(dice, h));
  h.events.sort((a, b) => a.at - b.at);
  h.events.push(...drawRest(diceOf(seed, `rest ${index}`), h));
  h.events.sort((a, b) => a.at - b.at);
  const wires = drawWires(diceOf(seed, `wires ${index}`), h.nodes);
  h.events.push(...drawNameless(diceOf(seed, `nameless ${index}`), h, wires.tellGuid));
  drawLimits(diceOf(seed, `limits ${index}`), h);
  h.events.push(...drawTwoConductors(diceOf(seed, `conductors ${index}`), h));
  h.events.push(...drawPersons(diceOf(seed, `persons ${index}`), h, BEGUN_MS));
  h.events.push(...drawEnds(diceOf(seed, `ends ${index}`), h));
  drawBrokers(diceOf(seed, `brokers ${index}`), h);
  drawUngated(diceOf(seed, `ungated ${index}`), h);
  h.events.push(...drawDoubt(diceOf(seed, `doubt ${index}`), h));
  h.events.sort((a, b) => a.at - b.at);
  return { ...h, ...wires };
}

/** Tight limits for what is fenced in a row, and what meets them. */
function drawLimits(dice: Dice, h: FleetHistory): void {
  const at = BEGUN_MS + dice.roll() * (h.quietFrom - BEGUN_MS - 30_000);
  const node = dice.maybeOf(h.nodes) as string;
  if (dice.chance(0.2)) h.hung = 'alarm';
  switch (dice.weighted({ none: 7, domain: 1, cap: 1, flaps: 1 })) {
    case 'domain': {
      const rack = h.nodes.slice(0, 3);
      h.domains = Object.fromEntries(rack.map((n) => [n, 'rack']));
      h.storm = limitsOf(5);
      for (const n of rack) h.events.push({ kind: 'death', at: at + dice.roll() * 20_000, node: n });
      if (dice.chance(0.5)) h.events.push(...rack.map((n) => letGo(dice, n, 'DOMAIN')));
      if (dice.chance(0.1)) {
        // All but one come back, and the trip has the time to open by itself.
        const back = at + 25_000 + dice.roll() * 10_000;
        for (const n of rack.slice(1)) h.events.push({ kind: 'reset', at: back, node: n });
        h.quietFrom = Math.max(h.quietFrom, back + 15_000 + StormNumbers.opensAfter);
      }
      break;
    }
    case 'cap':
      h.storm = { ...h.storm, capAtLeast: 1, capShare: 0 };
      if (dice.chance(0.5)) h.events.push(...h.nodes.map((n) => letGo(dice, n, 'CAP')));
      // What was permitted before does not count any more.
      if (dice.chance(0.03)) h.quietFrom += StormNumbers.capWindow;
      break;
    case 'flaps': {
      h.storm = { ...h.storm, flaps: 1 };
      // It is fenced, comes back, and dies again.
      const again: FleetEvent = { kind: 'death', at: 0, node };
      h.events.push({ kind: 'death', at: BEGUN_MS + dice.roll() * 10_000, node });
      h.events.push({ kind: 'after', at: 0, phase: 'closed', node, inMs: 1_000 + dice.roll() * 5_000, does: again });
      if (dice.chance(0.5)) h.events.push(letGo(dice, node, 'FLAPPING'));
      break;
    }
    case 'none':
      if (dice.chance(0.1)) h.events.push(...h.nodes.map((n) => letGo(dice, n, 'BRAKE')));
  }
}

/** What the conductor was writing about a death reaches NATS once another one has gone on with it. */
function drawTwoConductors(dice: Dice, h: FleetHistory): FleetEvent[] {
  const node = dice.maybeOf(h.events.flatMap((e) => (e.kind === 'death' ? [e.node] : [])));
  if (node === undefined || !dice.chance(0.15)) return [];
  const phase = dice.of(['investigating', 'fencing', 'fenced', 'recovering'] as const);
  const does: FleetEvent = {
    kind: 'held-up',
    at: 0,
    process: 'the conductor',
    forMs: 7_000 + dice.roll() * 4_000,
    silentMs: 1_500 + dice.roll() * 1_500,
  };
  return [{ kind: 'after', at: 0, phase, node, inMs: dice.of([0, 0, 5, 50]) * dice.roll(), does }];
}

/** A program ends, or the leases are made anew, right at a step of an incident. */
function drawEnds(dice: Dice, h: FleetHistory): FleetEvent[] {
  const node = dice.maybeOf(struck(h));
  if (node === undefined) return [];
  const ends: FleetEvent[] = [];
  if (dice.chance(0.2)) {
    const phase = dice.of(['investigating', 'fenced', 'failed', 'closed'] as const);
    const process = dice.chance(0.5) ? drawProcess(dice, h) : (dice.maybeOf(h.provisioners) as string);
    const does: FleetEvent = { kind: 'crash', at: 0, process };
    ends.push({ kind: 'after', at: 0, phase, node, inMs: dice.of([0, 300]) * dice.roll(), does });
  }
  if (dice.chance(0.04)) {
    const phase = dice.of(['fencing', 'recovering'] as const);
    const does: FleetEvent = { kind: 'bucket-anew', at: 0, bucket: 'leases' };
    ends.push({ kind: 'after', at: 0, phase, node, inMs: dice.roll() * 3_000, does });
  }
  return ends;
}

/** Servers of the bus run on nodes of the fleet. */
function drawBrokers(dice: Dice, h: FleetHistory): void {
  if (!dice.chance(0.1)) return;
  const first = dice.maybeOf(struck(h)) ?? (dice.maybeOf(h.nodes) as string);
  h.brokers = dice.chance(0.5) ? [first] : [first, ...h.nodes.filter((n) => n !== first).slice(0, 2)];
}

/** Work without a start gate, some of it late at a boot; it ends shortly before its machine dies or is reset. */
function drawUngated(dice: Dice, h: FleetHistory): void {
  if (!dice.chance(0.25)) return;
  const [workload, node] = dice.maybeOf(Object.entries(h.workloads)) ?? ['', ''];
  h.ungated = { [workload]: dice.of([0, 0, 5_000, 20_000, 40_000]) };
  const at = BEGUN_MS + dice.roll() * (h.quietFrom - BEGUN_MS - 10_000);
  if (dice.chance(0.5)) h.events.push({ kind: 'ends', at: at - 500 - dice.roll() * 5_000, workload });
  switch (dice.weighted({ death: 3, hang: 1, cordoned: 3, none: 1 })) {
    case 'death':
      h.events.push({ kind: 'death', at, node });
      break;
    case 'hang':
      h.events.push({ kind: 'hang', at, node, forMs: 5_000 + dice.roll() * 20_000 });
      break;
    case 'cordoned': {
      const cordonedAt = Math.max(BEGUN_MS, at - dice.roll() * 5_000);
      h.events.push({ kind: 'order', at: cordonedAt, order: { what: 'cordon', node } }, { kind: 'reset', at, node });
      const what = dice.of(['uncordon', 'uncordon', 'drain'] as const);
      const then = Math.min(h.quietFrom, at + 15_000 + dice.roll() * 30_000);
      if (dice.chance(0.7)) h.events.push({ kind: 'order', at: then, order: { what, node } });
      break;
    }
    case 'none':
  }
}

/** Another node falls silent with the `off` by a device of which nobody knows whose it is, and speaks again. */
function drawDoubt(dice: Dice, h: FleetHistory): FleetEvent[] {
  if (!dice.chance(0.03)) return [];
  const at = BEGUN_MS + dice.roll() * (h.quietFrom - BEGUN_MS - 40_000);
  const node = dice.maybeOf(h.nodes) as string;
  const other = dice.maybeOf(h.nodes.filter((n) => n !== node)) as string;
  const forMs = 5_000 + dice.roll() * 15_000;
  const does: FleetEvent = { kind: 'cut', at: 0, nodes: [other], forMs, everyMs: 0 };
  return [
    { kind: 'order', at, order: { what: 'edit', node } },
    { kind: 'death', at: at + 2_000, node },
    { kind: 'after', at: 0, phase: 'fencing', node, inMs: dice.roll() * 1_500, does },
  ];
}

/** Some of the BMCs that say whose they are do not for a while. */
function drawNameless(dice: Dice, h: FleetHistory, tellGuid: readonly string[]): FleetEvent[] {
  return tellGuid.flatMap((node): FleetEvent[] => {
    if (!dice.chance(0.15)) return [];
    const at = BEGUN_MS + dice.roll() * (h.quietFrom - BEGUN_MS);
    return [
      { kind: 'bmc', at, node, mood: 'nameless' },
      { kind: 'bmc', at: Math.min(h.quietFrom, at + 10_000 + dice.roll() * 40_000), node, mood: 'well' },
    ];
  });
}

/** What comes in few histories, and beside all else. */
function drawRest(dice: Dice, h: FleetHistory): FleetEvent[] {
  const at = BEGUN_MS + dice.roll() * (h.quietFrom - BEGUN_MS - 10_000);
  const node = dice.maybeOf(h.nodes) as string;
  const process = drawProcess(dice, h);
  const rest: FleetEvent[] = [];
  if (dice.chance(0.2)) rest.push({ kind: 'order', at, order: { what: 'edit', node } });
  if (dice.chance(0.05)) rest.push({ kind: 'order', at, order: { what: 'replace', node } });
  if (dice.chance(0.3)) rest.push({ kind: 'told-again', at, node });
  if (dice.chance(0.2)) rest.push({ kind: 'stop', at, process });
  if (dice.chance(0.1)) rest.push({ kind: 'wall-jump', at, process, ms: (dice.roll() - 0.5) * 2 * HOUR_MS });
  if (dice.chance(0.05)) rest.push({ kind: 'bucket-anew', at, bucket: 'leases' });
  if (dice.chance(0.25)) {
    const then = Math.min(h.quietFrom, at + 10_000 + dice.roll() * 40_000);
    rest.push({ kind: 'ordered-again', at: then, node: dice.maybeOf(struck(h)) ?? node });
  }
  return rest;
}

/** Some BMCs say whose they are, and of those some are another node's: two swapped, or one that two nodes name. */
function drawWires(dice: Dice, nodes: readonly string[]): Pick<FleetHistory, 'tellGuid' | 'wires'> {
  const tellGuid = nodes.filter(() => dice.chance(0.5));
  const a = dice.maybeOf(tellGuid);
  const b = dice.maybeOf(tellGuid.filter((n) => n !== a));
  if (a === undefined || b === undefined || !dice.chance(0.15)) return { tellGuid, wires: {} };
  return { tellGuid, wires: dice.chance(0.5) ? { [a]: b, [b]: a } : { [a]: b } };
}

function drawEvents(dice: Dice, h: FleetHistory): FleetEvent[] {
  const at = BEGUN_MS + dice.roll() * (h.quietFrom - BEGUN_MS - 10_000);
  const until = h.quietFrom - at;
  const forMs = Math.min(until, dice.of([1_000, 4_000, 9_000, 20_000, 40_000]) * (0.3 + dice.roll()));
  const node = dice.maybeOf(h.nodes) as string;
  const process = drawProcess(dice, h);
  switch (
    dice.weighted({
      death: 8,
      hang: 4,
      reset: 3,
      storm: 1.2,
      cut: 3,
      unplugged: 1,
      ends: 2,
      drift: 1,
      errs: 2,
      'monitor-away': 1,
      bmc: 2,
      crash: 4,
      pause: 3,
      'cut-off': 3,
      'held-up': 3,
      'server-restart': 0.7,
      order: 6,
    })
  ) {
    case 'death':
      return [{ kind: 'death', at, node }, ...drawAround(dice, h, at, node)];
    case 'hang':
      return [{ kind: 'hang', at, node, forMs }, ...drawError(dice, h, at, node), ...drawAround(dice, h, at, node)];
    case 'reset':
      return [{ kind: 'reset', at, node }];
    case 'storm': {
      const nodes = h.nodes.slice(0, Math.min(h.nodes.length - 1, h.storm.brakeAtLeast + 1 + dice.below(2)));
      const forStorm = 3_000 + dice.roll() * 25_000;
      return [
        { kind: 'cut', at: Math.min(at, h.quietFrom - forStorm), nodes, forMs: forStorm, everyMs: dice.roll() * 3_000 },
      ];
    }
    case 'cut':
      return [
        { kind: 'cut', at, nodes: [node], forMs, everyMs: 0 },
        ...drawError(dice, h, at, node),
        ...drawAround(dice, h, at, node),
      ];
    case 'unplugged':
      return [{ kind: 'unplugged', at, node, forMs }];
    case 'ends':
      return [{ kind: 'ends', at, workload: dice.maybeOf(Object.keys(h.workloads)) ?? '' }];
    case 'drift':
      return [
        { kind: 'drift', at, node },
        { kind: 'reset', at: at + 100, node },
      ];
    case 'errs':
      return [{ kind: 'errs', at, node, verdict: dice.of(['SUSPECT', 'DEGRADED']), forMs }];
    case 'monitor-away':
      return [{ kind: 'monitor-away', at, forMs: Math.min(forMs, 12_000) }];
    case 'bmc':
      return drawMood(dice, h, at, node);
    case 'crash':
      return [{ kind: 'crash', at, process }];
    case 'pause':
      return [{ kind: 'pause', at, process, forMs: Math.min(forMs, 15_000) }];
    case 'cut-off':
      return [{ kind: 'cut-off', at, process, forMs: Math.min(forMs, 15_000), silentMs: dice.roll() * 2_500 }];
    case 'held-up':
      return [{ kind: 'held-up', at, process, ...drawHeldUp(dice) }];
    case 'server-restart':
      return [{ kind: 'server-restart', at, forMs: Math.min(forMs, 3_000) }];
    case 'order':
      return drawOrder(dice, h, at, node);
  }
}

const drawProcess = (dice: Dice, h: FleetHistory): string =>
  dice.maybeOf(['the conductor', 'the leader', ...h.inventories, ...h.fencers, ...h.provisioners]) as string;

/** A lease changes hands in 6 s: what comes after that comes from who has led before. */
const drawHeldUp = (dice: Dice): { forMs: number; silentMs: number } => ({
  forMs: dice.of([1_000, 8_000, 12_000]) * (0.5 + dice.roll()),
  silentMs: 2_000 + dice.roll() * 1_500,
});

function drawMood(dice: Dice, h: FleetHistory, at: number, node: string): FleetEvent[] {
  const mood = dice.of(['slow', 'slow', 'lagging', 'mute', 'lying', 'picky', 'unreadable', 'refusing', 'dead']);
  return [
    { kind: 'bmc', at, node, mood },
    { kind: 'bmc', at: Math.min(h.quietFrom, at + 10_000 + dice.roll() * 40_000), node, mood: 'well' },
  ];
}

/** Its BMC is dead, and a person takes a machine for down that will be heard again. */
function drawError(dice: Dice, h: FleetHistory, at: number, node: string): FleetEvent[] {
  if (!dice.chance(0.15)) return [];
  const order: Order = { what: 'confirm', node };
  return [
    { kind: 'bmc', at: Math.max(BEGUN_MS, at - 100), node, mood: 'dead' },
    {
      kind: 'after',
      at: 0,
      phase: dice.of(['fencing', 'failed']),
      node,
      inMs: dice.roll() * 3_000,
      does: { kind: 'order', at: 0, order },
    },
    { kind: 'bmc', at: Math.min(h.quietFrom, at + 20_000 + dice.roll() * 30_000), node, mood: 'well' },
  ];
}

/** What goes wrong just when a machine is fenced or its work recovered. */
function drawAround(dice: Dice, h: FleetHistory, at: number, node: string): FleetEvent[] {
  const around: FleetEvent[] = [];
  if (dice.chance(0.3)) around.push(...drawMood(dice, h, at, node));
  if (!dice.chance(0.6)) return around;
  const phase = dice.of(['investigating', 'fencing', 'fenced', 'recovering', 'recovered'] as const);
  const inMs = dice.of([0, 0, 50, 500, 3_000]) * dice.roll();
  const process = drawProcess(dice, h);
  const other = dice.maybeOf(h.nodes) as string;
  const forMs = 1_000 + dice.roll() * 10_000;
  const ways: [FleetEvent, ...FleetEvent[]] = [
    { kind: 'reset', at: 0, node },
    { kind: 'wake', at: 0, node },
    { kind: 'wake', at: 0, node },
    { kind: 'death', at: 0, node: other },
    { kind: 'crash', at: 0, process },
    { kind: 'pause', at: 0, process, forMs },
    { kind: 'cut-off', at: 0, process, forMs, silentMs: dice.roll() * 2_500 },
    { kind: 'held-up', at: 0, process: dice.of(['the conductor', 'the leader']), ...drawHeldUp(dice) },
    // Its power is gone for a moment, and it boots anew when it is back.
    { kind: 'unplugged', at: 0, node, forMs: 50 + dice.roll() * 2_500 },
    { kind: 'order', at: 0, order: { what: dice.of(['confirm', 'cancel', 'cordon', 'delete']), node } },
    { kind: 'order', at: 0, order: { what: 'pause', forMs } },
  ];
  return [...around, { kind: 'after', at: 0, phase, node, inMs, does: dice.of(ways) }];
}
