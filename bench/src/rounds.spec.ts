import { describe, expect, it } from 'vitest';
import { takeRounds, type Round, type Rounds, type Turn } from './rounds.js';

const busy: Round = { starved: 'agents stood still', failed: new Error('too late') };

describe('rounds of a bench', () => {
  const turn = (shown: (round: number) => Round, after: () => void = () => undefined): Turn<number, Round> => ({
    prepare: (round) => Promise.resolve(round),
    measure: (round) => Promise.resolve(shown(round)),
    after: () => Promise.resolve(after()),
    tell: () => 'a round',
  });

  it('are repeated where the machine had no CPU for them, also where such a one failed, and all is told', async () => {
    const rounds: Rounds<Round> = { done: [], void: 0 };
    const lines: string[] = [];
    let afters = 0;
    const first = (round: number): Round => (round === 0 ? busy : {});
    await takeRounds(
      turn(first, () => (afters += 1)),
      2,
      rounds,
      (line) => lines.push(line),
    );
    expect(rounds.done).toEqual([{}, {}]);
    expect(rounds.void).toBeGreaterThan(0);
    expect(afters).toBe(rounds.done.length + rounds.void);
    expect(lines[0]).toMatch(/^a round; too late; .*void: agents stood still/);
  });

  it('end with what failed in one that counts', async () => {
    const rounds: Rounds<Round> = { done: [], void: 0 };
    const failing = turn(() => ({ failed: new Error('two at once') }));
    await expect(takeRounds(failing, 3, rounds, () => undefined)).rejects.toThrow('two at once');
    expect(rounds.done).toEqual([]);
  });

  it('end where too many are void', async () => {
    const rounds: Rounds<Round> = { done: [], void: 0 };
    await expect(
      takeRounds(
        turn(() => busy),
        2,
        rounds,
        () => undefined,
      ),
    ).rejects.toThrow('the machine is too busy');
  });
});
