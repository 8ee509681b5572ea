import type { JobKind } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import type { ProgramFault } from '../process/program-faults.js';
import { diceOf } from '../time/seeded-random.js';
import type { BmcMood } from './bmc.js';

interface At {
  /** Virtual ms. */
  at: number;
}

/**
 * What happens to the world of the hands, or is asked of it. Nodes and processes by their names; `the leader` is the
 * fencer that leads then.
 */
export type HandsEvent = At &
  (
    | ProgramFault
    | { kind: 'death'; node: string } /** Its system ends, its power stays on. */
    | { kind: 'reboot'; node: string } /** It comes back by itself. */
    | { kind: 'unplugged'; node: string; forMs: number } /** Somebody takes its power away, and gives it back. */
    | { kind: 'cut'; process: string; forMs: number; silentMs: number } /** Its way to NATS, noticed so much later. */
    | { kind: 'bmc'; node: string; mood: BmcMood; takesMs?: number; sessionMs?: number }
    | { kind: 'no-fork'; process: string; forMs: number }
    | { kind: 'no-drivers'; process: string; forMs: number }
    | { kind: 'job'; job: JobKind; nodes: number; timeoutMs?: number } /** On so many nodes of its own. */
    | { kind: 'cancel'; nth: number } /** The nth job. */
    | { kind: 'order-on'; node: string }
    | { kind: 'order-off'; node: string } /** By an operator, whatever its verdict. */
    /** So long after inventory has first agreed to a power-off of the node, or after an `off` of it was first written. */
    | { kind: 'after'; what: 'leave' | 'intent'; node: string; inMs: number; does: HandsEvent }
    | { kind: 'fencing-pause'; forMs: number }
    | { kind: 'no-conductor'; forMs: number } /** Inventory answers, and moves nothing by itself. */
  );

/** Everything that a run follows from. */
export interface HandsHistory {
  name: string;
  seed: number;
  nodes: string[];
  fencers: string[];
  provisioners: string[];
  /** Processes that do nothing but contend for one lease. */
  contenders: string[];
  /** Nodes whose BMC says whose it is, and was proven by that. */
  tellGuid: readonly string[];
  events: HandsEvent[];
  /** When the last fault is over, ms. */
  quietFrom: number;
  /** Share of messages on the wire and of calls of the log whose answer is lost. */
  lostAnswers: number;
  /** What the NATS server is like: they differ in what a repeated message is answered. */
  server: '2.9.10' | '2.15.1';
  /** Chance of each port call of a product's process to be its last, until `quietFrom`. */
  crashes: number;
}

const HOUR_MS = 3_600_000;

const names = (what: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${what}-${i + 1}`);

/** One quiet world, into which a history puts its events. */
export function quietHistory(name: string, seed: number, o: Partial<HandsHistory> = {}): HandsHistory {
  return {
    name,
    seed,
    nodes: names('n', 3),
    fencers: names('fencer', 2),
    provisioners: names('provisioner', 2),
    contenders: [],
    tellGuid: [],
    events: [],
    quietFrom: 60_000,
    lostAnswers: 0,
    crashes: 0,
    server: '2.15.1',
    ...o,
  };
}

/** A random history. The same seed and index give the same one. */
export function drawHands(seed: number, index: number): HandsHistory {
  const dice = diceOf(seed, `history ${index}`);
  const quietFrom = 20_000 + dice.roll() * 70_000;
  const h = quietHistory(`random ${index}`, seed * 1_000_003 + index, {
    nodes: names('n', 2 + dice.below(3)),
    fencers: names('fencer', 2 + dice.below(2)),
    provisioners: names('provisioner', 2 + dice.below(2)),
    contenders: names('contender', dice.chance(0.3) ? 3 : 0),
    quietFrom,
    lostAnswers: dice.of([0, 0, 0.002, 0.02]),
    crashes: dice.of([0, 0, 0.0005, 0.003]),
    server: dice.of(['2.9.10', '2.15.1']),
  });
  const many = 3 + dice.below(10);
  for (let i = 0; i < many; i++) h.events.push(...drawEvents(dice, h));
  const tellGuid = drawIdentities(diceOf(seed, `identities ${index}`), h);
  h.events.sort((a, b) => a.at - b.at);
  return { ...h, tellGuid };
}

/** Half of the BMCs say whose they are, and some of these do not for a while. */
function drawIdentities(dice: Dice, h: HandsHistory): string[] {
  const tellGuid = h.nodes.filter(() => dice.chance(0.5));
  for (const node of tellGuid) {
    if (!dice.chance(0.3)) continue;
    const at = 6_000 + dice.roll() * (h.quietFrom - 6_000);
    h.events.push(
      { kind: 'bmc', at, node, mood: 'nameless' },
      { kind: 'bmc', at: Math.min(h.quietFrom, at + dice.roll() * 40_000), node, mood: 'well' },
    );
  }
  return tellGuid;
}

function drawEvents(dice: Dice, h: HandsHistory): HandsEvent[] {
  const at = 6_000 + dice.roll() * (h.quietFrom - 6_000);
  const forMs = Math.min(h.quietFrom - at, dice.of([300, 2_000, 6_000, 9_000, 20_000]) * dice.roll());
  const node = dice.maybeOf(h.nodes) as string;
  const process = dice.maybeOf([...h.fencers, ...h.provisioners, ...h.contenders]) as string;
  switch (
    dice.weighted({
      death: 6,
      reboot: 1,
      unplugged: 1,
      crash: 4,
      stop: 1,
      pause: 3,
      cut: 3,
      'server-restart': 0.7,
      bmc: 4,
      job: 5,
      cancel: 1,
      'fencing-pause': 0.6,
      'no-conductor': 1,
      'wall-jump': 0.5,
    })
  ) {
    case 'death':
      return [{ kind: 'death', at, node }, ...drawAroundDeath(dice, h, at, node)];
    case 'reboot':
      return [{ kind: 'reboot', at, node }];
    case 'unplugged':
      return [{ kind: 'unplugged', at, node, forMs }];
    case 'crash':
      return [{ kind: 'crash', at, process }];
    case 'stop':
      return [{ kind: 'stop', at, process }];
    case 'pause':
      return [{ kind: 'pause', at, process, forMs }];
    case 'cut':
      return [{ kind: 'cut', at, process, forMs, silentMs: dice.chance(0.5) ? 0 : dice.roll() * 2_500 }];
    case 'server-restart':
      return [{ kind: 'server-restart', at, forMs: Math.min(forMs, 3_000) }];
    case 'bmc':
      return [
        { kind: 'bmc', at, node, mood: dice.of(['slow', 'lagging', 'mute', 'lying', 'unreadable', 'dead']) },
        { kind: 'bmc', at: Math.min(h.quietFrom, at + forMs * 3), node, mood: 'well' },
      ];
    case 'job':
      return [
        {
          kind: 'job',
          at,
          job: dice.of(['commission', 'decommission', 'maintenance', 'check', 'resetup', 'recover']),
          nodes: 1 + dice.below(3),
          ...(dice.chance(0.1) && { timeoutMs: 2_000 + dice.below(20_000) }),
        },
        ...drawDuringJob(dice, h, at),
      ];
    case 'cancel':
      return [{ kind: 'cancel', at, nth: dice.below(5) }];
    case 'fencing-pause':
      return [{ kind: 'fencing-pause', at, forMs }];
    case 'wall-jump':
      return [{ kind: 'wall-jump', at, process, ms: (dice.roll() - 0.5) * 2 * HOUR_MS }];
    case 'no-conductor':
      return [{ kind: 'no-conductor', at, forMs }];
  }
}

/** What goes wrong just when a dead machine is powered off, some 4 s after its death. */
function drawAroundDeath(dice: Dice, h: HandsHistory, diedAt: number, node: string): HandsEvent[] {
  const at = diedAt + 3_300 + dice.roll() * 3_000;
  const forMs = Math.max(0, Math.min(h.quietFrom - at, 3_000 + dice.roll() * 12_000));
  const around: HandsEvent[] = [];
  if (dice.chance(0.3)) around.push({ kind: 'reboot', at: diedAt + 2_000 + dice.roll() * 6_000, node });
  if (dice.chance(0.4)) {
    around.push({ kind: 'bmc', at: diedAt, node, mood: dice.of(['slow', 'slow', 'lagging', 'mute']) });
    around.push({ kind: 'bmc', at: Math.min(h.quietFrom, at + 25_000), node, mood: 'well' });
  }
  if (dice.chance(0.4)) {
    const process = 'the leader';
    const silentMs = dice.roll() * 2_500;
    const ways: [HandsEvent, ...HandsEvent[]] = [
      { kind: 'pause', at, process, forMs },
      { kind: 'crash', at, process },
      { kind: 'cut', at, process, forMs, silentMs },
      { kind: 'stop', at, process },
    ];
    around.push(dice.of(ways));
  }
  return around;
}

/** What befalls a worker while it may be at work. */
function drawDuringJob(dice: Dice, h: HandsHistory, begunAt: number): HandsEvent[] {
  if (!dice.chance(0.4)) return [];
  const at = Math.min(h.quietFrom, begunAt + 500 + dice.roll() * 8_000);
  const process = dice.maybeOf(h.provisioners) as string;
  const forMs = Math.min(h.quietFrom - at, 2_000 + dice.roll() * 12_000);
  const ways: [HandsEvent, ...HandsEvent[]] = [
    { kind: 'crash', at, process },
    { kind: 'pause', at, process, forMs },
    { kind: 'cut', at, process, forMs, silentMs: dice.roll() * 2_500 },
    { kind: 'stop', at, process },
  ];
  return [dice.of(ways)];
}
