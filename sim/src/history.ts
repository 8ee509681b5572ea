import { DetectionProfiles, silenceTimeout, SMALL_FLEET, type DetectionSettings } from '#contracts';
import { Dice } from '#contracts/testing/dice.js';
import { MONITOR, type Fault } from './world.js';
import { quickWire, type WireNumbers } from './wire.js';

export type Role = 'member' | 'cordoned' | 'off';

/** Everything that a run follows from. */
export interface History {
  /** Of the wire's dice and the agents' phases. */
  seed: number;
  profile: DetectionSettings['profile'];
  networks: string[];
  /** One per node; `off` is one whose power was proven off. */
  roles: Role[];
  wire: WireNumbers;
  /** With two members: the monitor reaches its witness. */
  witness: boolean;
  /** ms of a planned leave. */
  leaveGrace: number;
  faults: Fault[];
  /** Virtual ms. */
  until: number;
}

/** A healthy fleet of members, for a spec to break. */
export const aHistory = (nodes: number, seed: number, o: Partial<History> = {}): History => ({
  seed,
  profile: 'lan',
  networks: ['backend', 'management'],
  roles: Array.from({ length: nodes }, () => 'member' as const),
  wire: quickWire,
  witness: false,
  leaveGrace: 600_000,
  faults: [],
  until: 0,
  ...o,
});

/** Every node's own seed is far from its neighbour's. */
const seedOf = (seed: number, index: number): number =>
  Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);

/** History number `index` of this seed. */
export function drawHistory(seed: number, index: number, sizes?: { least: number; most: number }): History {
  const dice = new Dice(seedOf(seed, index));
  // Of a large fleet each second costs as much as twenty of a small one: many short histories tell more than a few long ones.
  const isLarge = sizes !== undefined && sizes.least > SMALL_FLEET;
  const profile = dice.weighted({ lan: 6, fast: 3, wan: isLarge ? 0 : 1 });
  const timeout = silenceTimeout(DetectionProfiles[profile]);
  const size = sizes ? sizes.least + dice.below(sizes.most - sizes.least + 1) : drawSize(dice, profile);
  const networks = dice.chance(0.12) ? ['management'] : ['backend', 'management'];
  const warm = timeout * 1.2;
  // A few are long enough for peers to be lost, and to come back.
  const long = dice.chance(isLarge ? 0 : 0.04) ? 4 : 1;
  const faults = drawFaults(dice, size, networks, warm, timeout * long);
  const last = Math.max(...faults.map((f) => f.from), warm);
  // By longer numbers it takes longer until something shows.
  const longest = Math.max(
    timeout,
    ...faults.map((f) => (f.kind === 'numbers' ? silenceTimeout(DetectionProfiles[f.profile]) : 0)),
  );
  return {
    seed: dice.below(2 ** 31),
    profile,
    networks,
    roles: drawRoles(dice, size),
    wire: drawWire(dice, size),
    witness: dice.chance(0.7),
    leaveGrace: timeout * dice.of([1, 3]),
    faults,
    until: last + longest * (1.6 + dice.roll()) * long,
  };
}

function drawSize(dice: Dice, profile: History['profile']): number {
  const kind = dice.weighted({ small: 88, middle: 11.6, rings: profile === 'wan' ? 0 : 0.4 });
  if (kind === 'small') return 2 + dice.below(5);
  return kind === 'middle' ? 7 + dice.below(6) : 33 + dice.below(8);
}

function drawRoles(dice: Dice, size: number): Role[] {
  const odd = dice.chance(0.25) ? 0.25 : 0;
  return Array.from({ length: size }, (_, i) =>
    i < 2 || !dice.chance(odd) ? 'member' : dice.of(['cordoned', 'cordoned', 'off']),
  );
}

function drawWire(dice: Dice, size: number): WireNumbers {
  return {
    loss: dice.of([0, 0, 0, 0.01, 0.05, 0.2, 0.3]),
    delay: dice.of([1, 1, 20, 150]),
    lateShare: dice.of([0, 0, 0.02, 0.1]),
    late: 4000,
    doubled: dice.of([0, 0, 0.05]),
    // Where observers are polled, an answer must be back within a second, 0.85 s of which are theirs.
    report: dice.of(size > SMALL_FLEET ? [5, 50] : [5, 5, 50, 400]),
  };
}

function drawFaults(dice: Dice, size: number, networks: string[], warm: number, timeout: number): Fault[] {
  const faults: Fault[] = [];
  const wanted = 1 + dice.below(4);
  while (faults.length < wanted) {
    const from = warm + dice.roll() * timeout;
    faults.push(...drawFault(dice, size, networks, from, from + timeout * 2.5 * dice.roll() ** 2, timeout));
  }
  return faults;
}

function drawFault(
  dice: Dice,
  size: number,
  networks: string[],
  from: number,
  until: number,
  timeout: number,
): Fault[] {
  const node = dice.below(size);
  const all = Array.from({ length: size }, (_, i) => i);
  const lasts = { from, until };
  const some = dice.chance(0.25) && networks.length > 1 ? [dice.of(networks as [string])] : networks;
  const cut = (a: number[], b: number[], oneWay = dice.chance(0.25)): Fault[] => [
    { kind: 'cut', ...lasts, a, b, networks: some, oneWay },
  ];
  switch (
    dice.weighted({
      death: 5,
      rack: 1,
      isolated: 2,
      partition: 3,
      link: 2,
      reunion: 0.5,
      unseen: 1,
      unheard: 0.7,
      blindness: 1,
      pause: 3,
      standstill: 0.6,
      restart: 2,
      stall: 1,
      replay: 1,
      bus: 0.7,
      'monitor-pause': 0.7,
      takeover: 1,
      registry: 0.3,
      numbers: 0.5,
      clock: 1,
      unsent: 1,
      'unsent-network': 0.6,
      unrouted: 0.8,
    })
  ) {
    case 'death':
      return [{ kind: 'death', node, from, until: dice.chance(0.7) ? Infinity : until + 0.3 * timeout }];
    case 'rack':
      return dice.some(all, Math.ceil(size / 2)).map((n) => ({ kind: 'death', node: n, from, until: Infinity }));
    case 'isolated':
      return cut([node], [...all.filter((n) => n !== node), MONITOR]);
    case 'partition': {
      const side = all.map(() => dice.chance(0.5));
      const a = all.filter((n) => side[n]);
      const b = all.filter((n) => !side[n]);
      if (a.length === 0 || b.length === 0) return [];
      (dice.chance(0.5) ? a : b).push(MONITOR);
      return cut(a, b, false);
    }
    case 'reunion': {
      // Two parts that find together node by node, and a lease that nobody may hold meanwhile.
      const far = all.filter(() => dice.chance(0.5));
      const near = all.filter((n) => !far.includes(n));
      const joined = far.flatMap((n) =>
        cut([n], [...near, MONITOR], false).map((f) => ({ ...f, until: until + dice.roll() * timeout })),
      );
      if (dice.chance(0.6)) return joined;
      const leads = until + dice.roll() * 0.5 * timeout;
      return [...joined, { kind: 'takeover', from, until: leads, successor: dice.of(['same', 'other']) }];
    }
    case 'link':
      return cut(dice.some(all, 2), dice.some(all, Math.ceil(size / 2)));
    case 'unseen':
      return cut([node], [MONITOR]);
    case 'unheard':
      return [
        ...cut(
          [node],
          all.filter((n) => n !== node),
        ),
        { kind: 'stall', node, from, until: Math.min(until, from + 2 * timeout) },
      ];
    case 'blindness':
      return cut(all, [MONITOR]);
    case 'pause':
      return [{ kind: 'pause', ...lasts, node, host: dice.chance(0.4) }];
    case 'standstill':
      return all.map((n) => ({ kind: 'pause', ...lasts, node: n, host: dice.chance(0.4) }));
    case 'restart':
      return [
        {
          kind: 'restart',
          node,
          from,
          until: from + (until - from) * dice.of([0.1, 1]),
          ...(dice.chance(0.4) && { leaving: dice.of(['stop', 'reboot']) }),
        },
      ];
    case 'stall':
      return [{ kind: 'stall', node, from, until: Math.min(until, from + 2500) }];
    case 'replay':
      return [{ kind: 'replay', node, from: 0, until: Infinity }];
    case 'bus':
      return [{ kind: 'bus', ...lasts }];
    case 'monitor-pause':
      return [{ kind: 'monitor-pause', ...lasts }];
    case 'takeover':
      return [
        { kind: 'takeover', from, until: from + dice.roll() * timeout, successor: dice.of(['same', 'other', 'new']) },
      ];
    case 'registry':
      return [{ kind: 'registry', ...lasts }];
    case 'numbers':
      return [{ kind: 'numbers', from, until: Infinity, profile: dice.of(['lan', 'lan', 'fast', 'fast', 'wan']) }];
    case 'unsent': {
      // Without a route to some, or with an interface that is down.
      const to = dice.chance(0.5) ? [...all, MONITOR] : dice.some(all, Math.ceil(size / 2));
      return [{ kind: 'unsent', ...lasts, node, to, networks: some }];
    }
    case 'unsent-network': {
      // Carriers fall, and addresses with them: on nearly all nodes, within a second or so. Or one loses its routes.
      const to = dice.chance(0.6) ? [...all, MONITOR] : [node];
      const whose = dice.chance(0.6) ? all : dice.some(all, size);
      return whose.map((n) => ({
        kind: 'unsent',
        node: n,
        to,
        networks: some,
        from: from + dice.roll() * 1500,
        until,
      }));
    }
    case 'unrouted': {
      // It dies, and routes to it go with it, for most of the others or for some.
      const others = all.filter((n) => n !== node && !dice.chance(0.3));
      const lost = others.map((n): Fault => ({
        kind: 'unsent',
        node: n,
        to: [node],
        networks: some,
        from,
        until: Infinity,
      }));
      return [{ kind: 'death', node, from: from + (dice.roll() - 0.5) * timeout, until: Infinity }, ...lost];
    }
    case 'clock':
      return [MONITOR, node].map((n) => ({
        kind: 'clock',
        node: n,
        from,
        until: Infinity,
        by: dice.of([3_600_000, -3_600_000, -2e9]),
      }));
  }
}
