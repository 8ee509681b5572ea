import { describe, expect, it } from 'vitest';
import { inTurn } from './in-turn.js';
import { orFail } from './or-fail.js';

interface Seen {
  name: string;
  ok: boolean;
}
const failed = ({ name }: { name: string }): Seen => ({ name, ok: false });
const named = (...names: string[]): { name: string }[] => names.map((name) => ({ name }));

describe('scenarios of a fleet', () => {
  it('have failed with it where they were not run, and what was seen of the others stays', async () => {
    const results: Seen[] = [];
    const run = (): Promise<void> => {
      results.push({ name: 'a', ok: true });
      return Promise.reject(new Error('the fleet is gone'));
    };
    await orFail(named('a', 'b', 'c'), results, run, failed);
    expect(results).toEqual([
      { name: 'a', ok: true },
      { name: 'b', ok: false },
      { name: 'c', ok: false },
    ]);
  });

  it('that does not come up keep no other fleet from its own', async () => {
    const results: Seen[] = [];
    const fleet = (name: string, comesUp: boolean) => (begun: () => void) =>
      orFail(
        named(name),
        results,
        async () => {
          if (!comesUp) throw new Error('no fleet');
          begun();
          results.push({ name, ok: true });
        },
        failed,
      );
    await inTurn([fleet('a', false), fleet('b', true), fleet('c', true)]);
    expect(results.map((r) => [r.name, r.ok])).toEqual([
      ['a', false],
      ['b', true],
      ['c', true],
    ]);
  });
});
