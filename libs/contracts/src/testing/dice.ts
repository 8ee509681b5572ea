import { seeded } from './chance.js';

/** Choices of a random history, all from one seed. */
export class Dice {
  /** 0 ≤ x < 1 */
  readonly roll: () => number;

  constructor(seed: number) {
    this.roll = seeded(seed);
  }

  below(n: number): number {
    return Math.floor(this.roll() * n);
  }

  chance(share: number): boolean {
    return this.roll() < share;
  }

  of<const T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] as T;
  }

  maybeOf<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)];
  }

  /** From one to `most` of them, each once. */
  some<T>(list: readonly T[], most: number): T[] {
    const wanted = 1 + this.below(most);
    const chosen = new Set<T>();
    for (let i = 0; i < wanted; i++) chosen.add(list[this.below(list.length)] as T);
    return [...chosen];
  }

  /** One of them, by weight. */
  weighted<T extends string>(weights: Record<T, number>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.roll() * entries.reduce((sum, [, w]) => sum + w, 0);
    for (const [what, w] of entries) if ((left -= w) < 0) return what;
    return (entries[0] as [T, number])[0];
  }
}
