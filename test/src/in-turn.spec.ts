import { describe, expect, it } from 'vitest';
import { inTurn } from './in-turn.js';

describe('works in turn', () => {
  const story: string[] = [];
  const gates = new Map<string, { begun: () => void; end: () => void; fail: (e: Error) => void }>();
  const work =
    (name: string) =>
    (begun: () => void): Promise<void> => {
      story.push(name);
      return new Promise((end, fail) => gates.set(name, { begun, end, fail }));
    };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const gate = async (name: string, act: 'begun' | 'end'): Promise<void> => {
    gates.get(name)?.[act]();
    await settled();
  };

  it('begin when the one before them has begun, and run beside it', async () => {
    story.length = 0;
    const all = inTurn(['a', 'b', 'c'].map(work));
    await settled();
    expect(story).toEqual(['a']);
    await gate('a', 'begun');
    expect(story).toEqual(['a', 'b']);
    await gate('b', 'begun');
    expect(story).toEqual(['a', 'b', 'c']);
    for (const name of ['a', 'b', 'c']) await gate(name, 'end');
    await all;
  });

  it('begin also when the one before them has ended without a word', async () => {
    story.length = 0;
    const all = inTurn(['a', 'b'].map(work));
    await gate('a', 'end');
    expect(story).toEqual(['a', 'b']);
    await gate('b', 'end');
    await all;
  });

  it('do not begin behind one that has failed, which is told when the others have ended', async () => {
    story.length = 0;
    let told: unknown;
    const all = inTurn(['a', 'b', 'c'].map(work)).catch((e: unknown) => (told = e));
    await gate('a', 'begun');
    gates.get('b')?.fail(new Error('b failed'));
    await settled();
    expect([story, told]).toEqual([['a', 'b'], undefined]);
    await gate('a', 'end');
    await all;
    expect(told).toMatchObject({ message: 'b failed' });
  });
});
