import { describe, expect, it } from 'vitest';
import { aSight } from '../testing/a-sight.js';
import {
  BAD_PERMILLE,
  badLink,
  GOOD_PERMILLE,
  QUALITY_HOLD_MS,
  qualityConditions,
  type BadLinks,
} from './link-quality.js';
import type { Sight } from './sight.js';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
type Verdicts = Parameters<typeof aSight>[2];
/** All observers of these nodes lose so many of their probes on these networks. */
const losing = (nodes: string[], lost: number, on = ['backend', 'management'], verdicts?: Verdicts): Sight =>
  aSight(NAMES, (_o, t, network) => (nodes.includes(t) && on.includes(network) ? { lost } : undefined), verdicts);
/** What nobody had looked at before counts as having lasted. */
const ids = (s: Sight, was?: BadLinks, now = 0): string[] =>
  qualityConditions(s, was, now).conditions.map((c) => `${c.code}=${c.subject}`);
const badOf = (s: Sight, was?: BadLinks, now = 0): BadLinks => qualityConditions(s, was, now).bad;

describe('the quality of links', () => {
  it('is bad from a tenth of the probes on, and good again below a twentieth', () => {
    expect(ids(losing(['a'], BAD_PERMILLE - 1))).toEqual([]);
    const first = qualityConditions(losing(['a'], BAD_PERMILLE), undefined, 0);
    expect(first.conditions.map((c) => c.subject)).toEqual(['a']);
    expect(ids(losing(['a'], GOOD_PERMILLE), first.bad)).toEqual(['link-quality=a']);
    expect(ids(losing(['a'], GOOD_PERMILLE - 1), first.bad)).toEqual([]);
  });

  it('is told once it was bad for as long as an agent remembers, without a break', () => {
    const bad = losing(['a'], BAD_PERMILLE);
    const first = badOf(bad, badOf(losing([], 0)), 1000);
    expect(ids(bad, first, 1000 + QUALITY_HOLD_MS - 1)).toEqual([]);
    expect(ids(bad, first, 1000 + QUALITY_HOLD_MS)).toEqual(['link-quality=a']);
    const anew = badOf(bad, badOf(losing([], 0), first, 2000), 3000);
    expect(ids(bad, anew, 1000 + QUALITY_HOLD_MS)).toEqual([]);
    // What was lost while it was silent there, or just before, is what its verdict was about.
    const silent = badOf(losing(['a'], 500, undefined, { a: ['backend', 'management'] }), first, 2000);
    expect(ids(bad, silent, 1000 + QUALITY_HOLD_MS)).toEqual([]);
  });

  it('of a network that is better again is told of it, until one of its nodes has it at most', () => {
    const whole = badOf(losing(['a', 'b', 'c'], 200, ['backend']));
    const two = losing(['a', 'b'], 200, ['backend']);
    expect(ids(two, whole)).toEqual(['link-quality=backend']);
    expect(ids(losing(['b'], 200, ['backend']), badOf(two, whole))).toEqual(['link-quality=b']);
    expect(ids(two, badOf(losing(['b'], 200, ['backend'])), QUALITY_HOLD_MS)).toEqual(['link-quality=b']);
  });

  it('is that of a node only where half of its observers lose as much', () => {
    const few = aSight(NAMES, (o, t) => (t === 'a' && o === 'b' ? { lost: 900 } : undefined));
    expect(ids(few)).toEqual([]);
    const most = aSight(NAMES, (o, t) => (t === 'a' && o !== 'b' ? { lost: 200 } : undefined));
    expect(ids(most)).toEqual(['link-quality=a']);
  });

  it('is told once for a network where most of its nodes lose, and once for the fleet where every network does', () => {
    expect(ids(losing(['a', 'b', 'c'], 200, ['backend']))).toEqual(['link-quality=backend']);
    expect(ids(losing(['a', 'b'], 200, ['backend']))).toEqual(['link-quality=a', 'link-quality=b']);
    expect(ids(losing(NAMES, 200))).toEqual(['link-quality=fleet']);
    const both = aSight(NAMES, (_o, t, network) => (network === 'backend' || t === 'a' ? { lost: 200 } : undefined));
    expect(ids(both)).toEqual(['link-quality=backend', 'link-quality=a']);
  });

  it('says nothing of who is dead or silent there, and keeps what was known of who cannot be seen', () => {
    expect(ids(losing(['a'], 500, ['backend'], { a: 'DOWN' }))).toEqual([]);
    expect(ids(losing(['a'], 500, ['backend'], { a: ['backend'] }))).toEqual([]);
    const bad = badOf(losing(['a'], 500, ['backend']));
    expect(ids(losing([], 0, [], { a: 'UNKNOWN' }), bad)).toEqual(['link-quality=a']);
    expect(ids(losing([], 0, [], { a: 'UNKNOWN' }))).toEqual([]);
    const silent = aSight(NAMES, (_o, t) => (t === 'a' ? 'silent' : undefined));
    expect(ids(silent)).toEqual([]);
  });

  it('that nobody can measure now is what it was: a node that loses most is SUSPECT, or silent to all, by chance', () => {
    const [bad, good] = [badOf(losing(['a'], 500)), badOf(losing([], 0))];
    const silent = aSight(NAMES, (_o, t) => (t === 'a' ? 'silent' : undefined));
    const both = [badLink('a', 'backend'), badLink('a', 'management')];
    for (const unmeasured of [silent, losing([], 0, [], { a: 'SUSPECT' }), losing([], 0, [], { a: 'UNKNOWN' })]) {
      expect([...badOf(unmeasured, bad).losing].sort()).toEqual(both);
      expect([...badOf(unmeasured, good).losing]).toEqual([]);
    }
    expect([...badOf(losing([], 0), bad).losing]).toEqual([]);
    expect([...badOf(losing([], 0, [], { a: 'DOWN' }), bad).losing]).toEqual([]);
  });
});
