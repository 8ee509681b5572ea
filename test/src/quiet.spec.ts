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
});
