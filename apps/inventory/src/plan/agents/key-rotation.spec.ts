import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { Beacon, DatagramKeySet, VerdictKind } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { DETECTOR, keyHolders } from './key-holders.js';
import { firstKeySet, laggards, nextKeySet, type KeyHolder } from './key-rotation.js';

const [OLD, NEW] = ['aaaaaaaa', 'bbbbbbbb'];
const begun = firstKeySet(undefined, { old: OLD, fresh: NEW, by: 'ann' }, 1_000);
const holder = (name: string, keys?: string[], o: Partial<KeyHolder> = {}): KeyHolder => ({
  name,
  ...(keys && { keys }),
  heard: true,
  off: false,
  ...o,
});
const after = (holders: KeyHolder[], set: DatagramKeySet = begun) => nextKeySet(set, holders, 2_000);
const signing = after([holder('a', [OLD, NEW])]) as DatagramKeySet;

describe('an exchange of the key', () => {
  it('begins with the old one signing, and has three sets', () => {
    expect(begun).toMatchObject({ phase: 'spread', keys: [OLD, NEW], version: 1_000 });
    expect(signing).toMatchObject({ phase: 'sign', keys: [NEW, OLD], version: 2_000 });
    const done = after([holder('a', [NEW, OLD])], signing) as DatagramKeySet;
    expect(done).toMatchObject({ phase: 'done', keys: [NEW], retired: OLD });
    expect(done.version).toBeGreaterThan(signing.version);
    expect(after([holder('a', [NEW])], done)).toBeUndefined();
  });

  it('signs with the new key only when everybody has said to accept it', () => {
    expect(after([holder('a', [OLD, NEW]), holder('b', [OLD])])).toBeUndefined();
    expect(after([holder('a', [OLD, NEW]), holder('b')])).toBeUndefined();
    expect(laggards(begun, [holder('a', [OLD, NEW]), holder('b')]).map((h) => h.name)).toEqual(['b']);
    expect(after([holder('a', [OLD, NEW]), holder('b', [NEW])])?.phase).toBe('sign');
  });

  it('drops the old key only when everybody has said to sign with the new one', () => {
    expect(after([holder('a', [NEW, OLD]), holder('b', [OLD, NEW])], signing)).toBeUndefined();
    expect(after([holder('a', [NEW, OLD]), holder('b', [NEW])], signing)?.phase).toBe('done');
  });

  it('waits for who is not heard, unless it was found off, or the operator goes on without it', () => {
    const silent = holder('b', [OLD], { heard: false });
    const all = [holder('a', [OLD, NEW]), silent];
    expect(after(all)).toBeUndefined();
    expect(after([holder('a', [OLD, NEW]), { ...silent, off: true }])?.phase).toBe('sign');
    const passed = { ...begun, without: ['b'] };
    expect(after(all, passed)).toMatchObject({ phase: 'sign', without: ['b'] });
    // It is back: nobody is passed over that is heard.
    expect(after([holder('a', [OLD, NEW]), { ...silent, heard: true }], passed)).toBeUndefined();
  });

  it('never runs backwards, also where the clock does', () => {
    expect(firstKeySet({ ...begun, version: 9_000 }, { old: NEW, fresh: OLD, by: 'ann' }, 5).version).toBe(9_001);
    expect(after([holder('a', [OLD, NEW])], { ...begun, version: 9_000 })?.version).toBe(9_001);
  });
});

describe('whoever proves datagrams', () => {
  const beacon: Pick<Beacon, 'keys' | 'sighted'> = { sighted: true, keys: [OLD] };
  const heardOf = (
    o: { verdict?: VerdictKind; off?: boolean; report?: 'fresh' | 'old' },
    seenBy: Pick<Beacon, 'keys' | 'sighted'> | undefined = beacon,
  ): KeyHolder => {
    const node = aNode('a', {
      enrolled: true,
      ...(o.verdict && { verdict: { verdict: o.verdict, networks: [], epoch: 1, seq: 1, at: 1 } }),
      ...(o.off && { confirmedOff: { by: 'fencing', at: 1 } as never }),
    });
    const report = o.report && { report: { keys: [OLD] }, fresh: o.report === 'fresh' };
    return keyHolders({ nodes: [node], report: () => report, beacon: seenBy })[1] as KeyHolder;
  };

  it('is the active detector, too, which is always waited for', () => {
    const external = aNode('x', { enrolled: false });
    const [detector, ...nodes] = keyHolders({ nodes: [external], report: () => undefined, beacon });
    expect([detector, nodes]).toEqual([{ name: DETECTOR, keys: [OLD], heard: true, off: false }, []]);
    expect(keyHolders({ nodes: [], report: () => undefined, beacon: undefined })[0]?.keys).toBeUndefined();
  });

  it.each<[Parameters<typeof heardOf>[0], boolean]>([
    [{ report: 'fresh', verdict: 'DOWN' }, true],
    [{ report: 'old', verdict: 'DOWN' }, false],
    [{ verdict: 'UP' }, true],
    [{ verdict: 'DEGRADED' }, true],
    [{ verdict: 'SUSPECT' }, true],
    [{}, false],
  ])('%j is heard: %s', (o, heard) => {
    expect(heardOf(o)).toMatchObject({ heard, off: false });
  });

  it('counts as heard while no monitor sees the fleet, unless it was found off', () => {
    expect(heardOf({ verdict: 'DOWN' }, { sighted: false }).heard).toBe(true);
    expect(heardOf({ verdict: 'DOWN', off: true }, { sighted: false })).toMatchObject({ heard: false, off: true });
  });

  it('is not off that is heard', () => {
    expect(heardOf({ off: true, verdict: 'UP' })).toMatchObject({ heard: true, off: false });
    expect(heardOf({ off: true, verdict: 'DOWN', report: 'fresh' })).toMatchObject({ heard: true, off: false });
    expect(heardOf({ off: true, verdict: 'DOWN' })).toMatchObject({ heard: false, off: true });
  });
});

describe('a fleet whose key is exchanged again and again', () => {
  const N = 3;
  interface Agent {
    version: number;
    keys: string[];
  }
  type Event =
    | { what: 'take' | 'tell' | 'hear' | 'off' | 'on'; i: number; behind: number }
    | { what: 'step' | 'begin' | 'failover' | 'drop-absent'; i: number; behind: number };

  const times = (n: number, what: Event['what']): Event['what'][] => Array.from({ length: n }, () => what);
  const event = fc.record<Event>({
    what: fc.constantFrom<Event['what'][]>(
      ...times(12, 'take'),
      ...times(12, 'tell'),
      ...times(12, 'hear'),
      ...times(8, 'step'),
      ...times(4, 'begin'),
      ...(['failover', 'off', 'on', 'on', 'drop-absent'] as const),
    ),
    i: fc.nat(N - 1),
    behind: fc.constantFrom(0, 0, 0, 1, 2),
  } as never);

  it('is at no moment one in which two that run refuse each other, whatever is late, lost or behind', () => {
    let exchanges = 0;
    fc.assert(
      fc.property(fc.array(event, { minLength: 200, maxLength: 400, size: 'max' }), (events) => {
        let fresh = 0;
        const published: DatagramKeySet[] = [];
        const agents: Agent[] = Array.from({ length: N }, () => ({ version: 0, keys: [OLD] }));
        const on = Array.from({ length: N }, () => true);
        /** Reports that are on their way, and what the conductor has heard last. */
        const way: string[][][] = agents.map(() => []);
        const known: (string[] | undefined)[] = agents.map(() => undefined);
        const latest = (): DatagramKeySet | undefined => published.at(-1);
        const holders = (): KeyHolder[] =>
          agents.map((_a, i) => holder(`n${i}`, known[i], { heard: on[i] as boolean, off: false }));
        const take = (i: number, behind: number): void => {
          const set = published.at(-1 - behind);
          const agent = agents[i] as Agent;
          if (set && set.version > agent.version) agents[i] = { version: set.version, keys: set.keys };
        };
        for (const { what, i, behind } of events) {
          const set = latest();
          if (what === 'take' && on[i]) take(i, behind);
          if (what === 'tell' && on[i]) way[i]?.push((agents[i] as Agent).keys);
          if (what === 'hear') known[i] = way[i]?.shift() ?? known[i];
          if (what === 'failover') known.fill(undefined);
          // One that returns has the keys from the control plane before it counts as heard.
          if (what === 'off') on[i] = false;
          if (what === 'on' && !on[i]) {
            way[i] = [];
            on[i] = true;
            take(i, 0);
          }
          if (what === 'begin' && (set === undefined || set.phase === 'done'))
            published.push(
              firstKeySet(
                set,
                { old: set?.keys[0] ?? OLD, fresh: (++fresh).toString(16).padStart(8, '0'), by: 'a' },
                0,
              ),
            );
          if (what === 'drop-absent' && set && set.phase !== 'done')
            published.push({
              ...set,
              version: set.version,
              without: laggards(set, holders())
                .filter((h) => !h.heard)
                .map((h) => h.name),
            });
          const next = what === 'step' && set ? nextKeySet(set, holders(), 0) : undefined;
          if (next) published.push(next);
          if (next?.phase === 'done') exchanges++;
          const running = agents.filter((_a, n) => on[n]);
          for (const a of running)
            for (const b of running)
              if (!b.keys.includes(a.keys[0] as string))
                throw new Error(`${what} ${i}: ${a.keys.join()} is not heard by ${b.keys.join()}`);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(exchanges).toBeGreaterThan(50);
  });
});
