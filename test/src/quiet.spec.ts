import { describe, expect, it } from 'vitest';
import { Quiet } from './quiet.js';

describe('a machine that some work needs for itself', () => {
  const told: string[] = [];
  const gates = new Map<string, () => void>();
  const begin = (quiet: Quiet, name: string, alone: boolean): Promise<void> =>
    quiet.run(alone, async (relax) => {
      told.push(name);
      gates.set(`${name} relaxes`, relax);
      await new Promise<void>((end) => gates.set(name, end));
    });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const open = async (gate: string): Promise<void> => {
    gates.get(gate)?.();
    await settled();
  };

  it('has other work beside it when it relaxes, and nobody else alone until it has ended', async () => {
    const quiet = new Quiet();
    const all = [
      begin(quiet, 'a', false),
      begin(quiet, 'timed', true),
      begin(quiet, 'b', false),
      begin(quiet, 'timed too', true),
    ];
    await settled();
    expect(told).toEqual(['a']);
    await open('a');
    expect(told).toEqual(['a', 'timed']);
    await open('timed relaxes');
    expect(told).toEqual(['a', 'timed', 'b']);
    await open('b');
    expect(told).toEqual(['a', 'timed', 'b']);
    await open('timed');
    expect(told).toEqual(['a', 'timed', 'b', 'timed too']);
    await open('timed too');
    await Promise.all(all);
  });

  it('says once when nothing more will be alone: at the last relaxing, or ending', async () => {
    let over = 0;
    const quiet = new Quiet(2, () => (over += 1));
    const all = [begin(quiet, 'timed', true), begin(quiet, 'b', false), begin(quiet, 'timed too', true)];
    await settled();
    await open('timed relaxes');
    await open('timed relaxes');
    await open('timed');
    await open('b');
    expect(over).toBe(0);
    await open('timed too');
    expect(over).toBe(1);
    await Promise.all(all);
  });

  it('has not said so while a round that was void is still to be repeated, and never says it twice', async () => {
    let over = 0;
    const quiet = new Quiet(2, () => (over += 1));
    const alone = async (name: string): Promise<void> => {
      const done = begin(quiet, name, true);
      await settled();
      await open(name);
      await done;
    };
    await alone('void');
    quiet.again();
    await alone('repeated');
    expect(over).toBe(0);
    await alone('the other');
    expect(over).toBe(1);
    quiet.again();
    await alone('late');
    expect(over).toBe(1);
  });

  it('says so at once where nothing will be alone', () => {
    let over = 0;
    expect(new Quiet(0, () => (over += 1))).toBeDefined();
    expect(over).toBe(1);
  });
});
