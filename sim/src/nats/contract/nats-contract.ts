import { afterAll, beforeAll, describe, it } from 'vitest';
import type { ContractWorld } from './contract-world.js';
import { natsCases } from './nats-cases.js';

/** At once in one world whose time passes by itself: they wait far more than they compute. */
const BESIDE = 8;
/** A case that failed while the machine stood still says nothing: it is repeated so often at most. */
const MOST_REPEATS = 3;
/** Where so long nothing moved, what has a time of its own may be over before anybody looks, ms. */
const STANDSTILL_MS = 200;

/** Each case is a test of its own. @param open makes a new world; one in which time is played runs one case after the other */
export function natsContract(open: () => Promise<ContractWorld>): void {
  const { cases } = natsCases();
  const worlds: ContractWorld[] = [];
  const outcomes: Promise<void>[] = [];
  let boxes = 0;

  /** One case, on clients and streams of its own. */
  async function runOnce(world: ContractWorld, index: number): Promise<void> {
    const own = natsCases();
    await own.prepare(world, `box${++boxes}`);
    try {
      await own.cases[index]?.run();
    } finally {
      await own.end();
    }
  }

  async function runUntilCounted(world: ContractWorld, index: number): Promise<void> {
    for (let repeats = 0; ; repeats++) {
      const still = world.watchStandstill();
      try {
        return await runOnce(world, index);
      } catch (error) {
        const ms = Math.round(still.longestMs());
        if (ms < STANDSTILL_MS || repeats === MOST_REPEATS) throw error;
        process.stdout.write(`void: ${cases[index]?.title}: nothing moved for ${ms} ms\n`);
      } finally {
        still.end();
      }
    }
  }

  /** These cases, so many at once; each has its outcome from the begin. */
  function begin(world: ContractWorld, indices: number[], beside: number): void {
    const lanes = Array.from({ length: beside }, () => Promise.resolve());
    indices.forEach((index, n) => {
      const lane = n % beside;
      const outcome = (lanes[lane] as Promise<void>).then(() => runUntilCounted(world, index));
      lanes[lane] = outcome.catch(() => undefined);
      outcomes[index] = outcome;
    });
  }

  beforeAll(async () => {
    const world = await open();
    worlds.push(world);
    const all = cases.map((_, index) => index);
    if (world.played) return begin(world, all, 1);
    const other = await open();
    worlds.push(other);
    begin(
      other,
      all.filter((i) => cases[i]?.alone),
      1,
    );
    begin(
      world,
      all.filter((i) => !cases[i]?.alone),
      BESIDE,
    );
  });
  afterAll(async () => {
    await Promise.allSettled(outcomes);
    await Promise.all(worlds.map((world) => world.close()));
  });

  describe.each([...new Set(cases.map((c) => c.group))])('%s', (group) => {
    const own = cases.flatMap((c, index) => (c.group === group ? [[c.title, index] as const] : []));
    it.each(own)('%s', (_title, index) => outcomes[index]);
  });
}
