import { describe, expect, it } from 'vitest';
import { aSight } from '../testing/a-sight.js';
import { LINK_HOLD_MS, linkConditions, LOSSY_LINK_HOLD_MS, type BrokenSince } from './broken-links.js';
import type { Sight } from './sight.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
type Verdicts = Parameters<typeof aSight>[2];
/** Pairs that do not hear each other, on one network or on both. */
const cut = (pairs: readonly [string, string, string?][], verdicts?: Verdicts, names = NAMES): Sight =>
  aSight(
    names,
    (o, t, network) =>
      pairs.some(([x, y, on = network]) => on === network && [x, y].includes(o) && [x, y].includes(t))
        ? 'silent'
        : undefined,
    verdicts,
  );
type Loses = Parameters<typeof linkConditions>[3];
const none: Loses = () => false;
const ids = (s: Sight, was: BrokenSince = new Map(), now = 0, loses = none): string[] =>
  linkConditions(s, was, now, loses).conditions.map((c) => `${c.code}=${c.subject}`);
const sinceOf = (s: Sight, was: BrokenSince = new Map(), now = 0): BrokenSince =>
  linkConditions(s, was, now, none).since;
/** As it is once it has lasted. */
const lasting = (s: Sight): string[] => ids(s, sinceOf(s), LINK_HOLD_MS);

describe('links that are silent', () => {
  it('are none in a healthy fleet', () => {
    expect(lasting(cut([]))).toEqual([]);
  });

  it('are named by both ends once that has lasted, on one network or on all', () => {
    const s = cut([['b', 'a']]);
    const first = linkConditions(s, new Map(), 1000, none);
    expect(first.conditions).toEqual([]);
    expect(linkConditions(s, first.since, 1000 + LINK_HOLD_MS - 1, none).conditions).toEqual([]);
    expect(linkConditions(s, first.since, 1000 + LINK_HOLD_MS, none).conditions).toEqual([
      {
        code: 'link-down',
        subject: 'a~b',
        severity: 'warning',
        message: 'a and b do not hear each other on backend, management; others hear both.',
      },
    ]);
    expect(lasting(cut([['a', 'b', 'backend']]))).toEqual(['link-down=a~b']);
  });

  it('are told late where an end loses probes on that network: it is silent there now and then by chance', () => {
    const s = cut([['a', 'b', 'backend']]);
    const since = sinceOf(s);
    for (const end of ['a', 'b']) {
      const onIt: Loses = (node, network) => node === end && network === 'backend';
      expect(ids(s, since, LOSSY_LINK_HOLD_MS - 1, onIt)).toEqual([]);
      expect(ids(s, since, LOSSY_LINK_HOLD_MS, onIt)).toEqual(['link-down=a~b']);
      expect(ids(s, since, LINK_HOLD_MS, (node, network) => node === end && network === 'management')).toHaveLength(1);
    }
    expect(ids(s, since, LINK_HOLD_MS, (node) => node === 'c')).toEqual(['link-down=a~b']);
  });

  it('begin anew after they were heard in between', () => {
    const broken = cut([['a', 'b']]);
    const healed = sinceOf(cut([]), sinceOf(broken), 1000);
    expect(ids(broken, healed, LINK_HOLD_MS)).toEqual([]);
  });

  it('are one node’s where several of its observers have lost it, and the node is named', () => {
    expect(
      lasting(
        cut([
          ['a', 'b'],
          ['a', 'c'],
        ]),
      ),
    ).toEqual(['partly-heard=a']);
    expect(
      lasting(
        cut([
          ['a', 'b'],
          ['a', 'c'],
          ['d', 'e'],
        ]),
      ),
    ).toEqual(['partly-heard=a', 'link-down=d~e']);
  });

  it('are told of no node that is not UP or DEGRADED: it may be dying', () => {
    const dying = NAMES.slice(1, 5).map((n): [string, string] => ['a', n]);
    expect(lasting(cut(dying))).toEqual(['partly-heard=a']);
    for (const verdict of ['SUSPECT', 'DOWN', 'LEFT', 'UNKNOWN'] as const)
      expect(lasting(cut(dying, { a: verdict }))).toEqual([]);
  });

  it('are told of no network that is silent at one end as a whole', () => {
    expect(lasting(cut([['a', 'b', 'backend']], { a: ['backend'] }))).toEqual([]);
    expect(lasting(cut([['a', 'b', 'management']], { a: ['backend'] }))).toEqual(['link-down=a~b']);
  });

  it('are told only where others hear both ends, so that it is the link', () => {
    expect(lasting(cut([['a', 'b']], {}, ['a', 'b']))).toEqual([]);
    const alone = aSight(NAMES, (o, t) => (o === 'a' && t === 'b' ? 'silent' : t === 'b' ? 'absent' : undefined));
    expect(lasting(alone)).toEqual([]);
  });

  it('are those that one end misses while the other says nothing, and none that one end hears', () => {
    const oneWay = aSight(NAMES, (o, t) =>
      o === 'a' && t === 'b' ? 'silent' : o === 'b' && t === 'a' ? 'absent' : undefined,
    );
    expect(lasting(oneWay)).toEqual(['link-down=a~b']);
    const heardBack = aSight(NAMES, (o, t) => (o === 'a' && t === 'b' ? 'silent' : undefined));
    expect(lasting(heardBack)).toEqual([]);
  });

  it('go on counting while an end cannot be seen, and end with its death', () => {
    const s = cut([['a', 'b']]);
    const since = sinceOf(s);
    const unseen = sinceOf(cut([], { a: 'UNKNOWN' }), since, 1000);
    expect(ids(s, unseen, LINK_HOLD_MS)).toEqual(['link-down=a~b']);
    const dead = sinceOf(cut([], { a: 'DOWN' }), since, 1000);
    expect(ids(s, dead, LINK_HOLD_MS)).toEqual([]);
  });
});
