import type { Named, Player } from './play.js';

interface Seeded {
  name: string;
  seed: number;
}

/** One whose histories nobody looks into. */
export type AnyPlayer = Player<Seeded, Named<Seeded>>;

/** Simulations that play histories, each loaded when it is asked for: that of the fleet loads all of inventory. */
export const players = {
  hands: async () => (await import('./hands/play-hands.js')).hands as unknown as AnyPlayer,
  fleet: async () => (await import('./fleet/play-fleet.js')).fleet as unknown as AnyPlayer,
} satisfies Record<string, () => Promise<AnyPlayer>>;
export type PlayerName = keyof typeof players;

export const isPlayer = (name: string): name is PlayerName => Object.hasOwn(players, name);

/** A named history, on another seed where one is given. */
export function seeded<N extends Named<Seeded>>(named: N, seed: number | undefined): N {
  return seed === undefined ? named : { ...named, history: { ...named.history, seed } };
}
