import { describe, expect, it } from 'vitest';
import { dieInTurn, type Death, type Deaths, type Failover } from './deaths.js';

const quiet = (): void => undefined;

/** Fails over at once; each death is what its turn says. */
function played(turn: (round: number) => Partial<Death>): Failover & { log: string[] } {
  let round = 0;
  const log: string[] = [];
  return {
    log,
    carrier: () => `host${round + 1}`,
    fail: async (victim) => {
      log.push(`${victim} dies`);
      return { victim, to: 'host9', offSentMs: 3700, runningMs: 5500, ...turn(round++) };
    },
    whole: async (victim) => void log.push(`${victim} is back`),
  };
}

describe('deaths in turn', () => {
  it('kills whoever carries the work, the next one when the last is back', async () => {
    const deaths: Deaths = { done: [], void: 0 };
    const fleet = played(() => ({}));
    await dieInTurn(fleet, 2, deaths, quiet);
    expect(fleet.log).toEqual(['host1 dies', 'host1 is back', 'host2 dies', 'host2 is back']);
    expect(deaths.done.map((d) => d.victim)).toEqual(['host1', 'host2']);
  });

  it('repeats a round in which somebody was starved, and counts it', async () => {
    const deaths: Deaths = { done: [], void: 0 };
    await dieInTurn(
      played((round) => (round === 0 ? { starved: 'an agent abstained' } : {})),
      2,
      deaths,
      quiet,
    );
    expect(deaths.void).toBe(1);
    expect(deaths.done.map((d) => d.victim)).toEqual(['host2', 'host3']);
  });

  it('voids a round in which its own process stood still', async () => {
    const deaths: Deaths = { done: [], void: 0 };
    const standStill = (ms: number): void => {
      const end = performance.now() + ms;
      while (performance.now() < end);
    };
    const fleet = played(() => ({}));
    const fail = fleet.fail.bind(fleet);
    let first = true;
    fleet.fail = async (victim) => {
      const death = await fail(victim);
      await new Promise((r) => setTimeout(r, 60));
      if (first) standStill(400);
      first = false;
      await new Promise((r) => setTimeout(r, 60));
      return death;
    };
    await dieInTurn(fleet, 1, deaths, quiet);
    expect(deaths).toMatchObject({ void: 1, done: [{ victim: 'host2' }] });
  });

  it('gives up where too many rounds were void', async () => {
    const busy = played(() => ({ starved: 'an agent abstained' }));
    await expect(dieInTurn(busy, 2, { done: [], void: 0 }, quiet)).rejects.toThrow('the machine is too busy');
    expect(busy.log).toHaveLength(8);
  });

  it('keeps the deaths before one that fails', async () => {
    const deaths: Deaths = { done: [], void: 0 };
    const fleet = played((round) => {
      if (round === 1) throw new Error('the work runs nowhere');
      return {};
    });
    await expect(dieInTurn(fleet, 3, deaths, quiet)).rejects.toThrow('the work runs nowhere');
    expect(deaths.done).toHaveLength(1);
  });
});
