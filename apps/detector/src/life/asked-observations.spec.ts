import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import type { LifeSigns, LifeObservation } from '#contracts';
import { AskedObservations } from './asked-observations.js';

const silent: LifeSigns = { ssh: 'silent', icmp: 'silent', port: 'silent', agentPort: 'silent' };

describe('what nodes find that are asked about a suspect', () => {
  let now: number;
  let asked: string[];
  let changed: string[];
  let observers: string[];
  /** What each finds; nothing: it could not look. */
  let finds: Record<string, LifeSigns | undefined>;
  /** While set, nobody answers. */
  let hold: Promise<void> | undefined;
  let sut: AskedObservations;

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const watch = async (...nodes: string[]): Promise<void> => {
    sut.watch(nodes.map((node) => ({ node })));
    await turn();
  };
  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end;) {
      now += Math.min(100, end - now);
      sut.step();
      await turn();
    }
  };
  const observations = (node = 'x'): LifeObservation[] => sut.observations(node, now);

  beforeEach(() => {
    [now, asked, changed, observers, hold] = [1_000, [], [], ['a', 'b'], undefined];
    finds = { a: silent, b: silent };
    sut = new AskedObservations({
      clock: { ...systemClock, monotonicMs: () => now },
      observersOf: () => observers,
      ask: async (observer, node) => {
        asked.push(`${observer} ${node}`);
        const signs = finds[observer];
        await hold;
        return signs && { signs, ageMs: 0 };
      },
      spoke: (observer) => (observer === 'a' ? ['ssh'] : []),
      changed: (node) => changed.push(node),
    });
  });

  it('is asked for at once, of each, and told with what spoke to it before', async () => {
    await watch('x');
    expect(asked).toEqual(['a x', 'b x']);
    expect(changed).toEqual(['x', 'x']);
    expect(observations()).toEqual([
      { by: 'a', ...silent, spoke: ['ssh'] },
      { by: 'b', ...silent, spoke: [] },
    ]);
    expect(observations('y')).toEqual([]);
  });

  it('is asked for every two seconds, after a minute every five, and not while an answer is waited for', async () => {
    await watch('x');
    await pass(60_000);
    expect(asked.length).toBe(2 * 30 + 2);
    asked = [];
    await pass(60_000);
    expect(asked.length).toBe(2 * 12);
    hold = new Promise(() => undefined);
    asked = [];
    await pass(60_000);
    expect(asked.length).toBe(2);
  });

  it('is nothing of one that could not look, and of one that cannot any more its signs alone', async () => {
    finds['b'] = undefined;
    await watch('x');
    expect(observations().map((l) => l.by)).toEqual(['a']);
    finds['a'] = { ...silent, icmp: 'reply' };
    await pass(2_000);
    finds['a'] = undefined;
    await pass(9_900);
    expect(observations()).toMatchObject([{ by: 'a', icmp: 'reply', ssh: 'silent' }]);
    await pass(2_200);
    expect(observations()).toEqual([]);
  });

  it('keeps a sign of life for ten seconds, and for as long as the look itself, whoever is asked by then', async () => {
    finds['a'] = { ...silent, ssh: 'banner' };
    await watch('x');
    finds['a'] = silent;
    observers = ['b', 'c'];
    finds['c'] = silent;
    await pass(9_900);
    expect(observations().find((l) => l.by === 'a')?.ssh).toBe('banner');
    await pass(2_200);
    expect(observations().find((l) => l.by === 'a')?.ssh).not.toBe('banner');
    expect(observations().map((l) => l.by)).toContain('c');
  });

  it('is not tried again once the node was heard meanwhile; a sign of life is kept', async () => {
    finds['b'] = { ...silent, icmp: 'reply' };
    await watch('x');
    await watch();
    expect(observations()).toEqual([]);
    let release = (): void => undefined;
    hold = new Promise((resolve) => (release = resolve));
    await watch('x');
    expect(observations()).toMatchObject([{ by: 'b', ssh: 'not-tried', icmp: 'reply' }]);
    // What was asked for in the suspicion before says nothing of this one.
    await watch();
    await watch('x');
    release();
    await turn();
    expect(observations()).toMatchObject([{ by: 'b', ssh: 'not-tried', icmp: 'reply' }]);
  });

  it('is not asked for any more when nobody wants to know', async () => {
    await watch('x', 'y');
    asked = [];
    await watch('y');
    await pass(20_000);
    expect(new Set(asked)).toEqual(new Set(['a y', 'b y']));
  });
});
