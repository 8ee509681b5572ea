import { describe, expect, it } from 'vitest';
import type { Unsent } from '#contracts';
import type { Judgement } from '../verdicts/verdict.js';
import { sendConditions, UNSENT_HOLD_MS, type MuteFor, type Sender } from './cannot-send.js';
import { SUSPECT_HOLD_MS, unjudged, UNJUDGED_HOLD_MS, type UnjudgedFor } from './unjudged.js';

const NETWORKS = ['backend', 'management'];
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const failing = (peers: string[], forMs = UNSENT_HOLD_MS): Unsent => ({
  peers,
  probes: 9,
  forMs,
  error: 'ENETUNREACH',
});
const sender = (node: string, backend?: Unsent, errors = 0): Sender => ({
  node,
  networks: NETWORKS,
  health: {
    abstain: false,
    sendErrors: { backend: errors, management: 0 },
    loopGapMs: 1,
    ...(backend && { unsent: { backend } }),
  },
});
const told = (senders: Sender[], out: string[] = []): string[] =>
  sendConditions(senders, new Set(out), new Map(), 0).conditions.map((c) => `${c.code}=${c.subject}: ${c.message}`);
const others = (node: string): string[] => NAMES.filter((n) => n !== node);

describe('who cannot send', () => {
  it('is a warning about the one that cannot send to anybody on a network, once it has lasted', () => {
    const all = (forMs: number): Sender[] =>
      NAMES.map((n) => (n === 'a' ? sender('a', failing(others('a'), forMs), 36) : sender(n)));
    expect(told(all(UNSENT_HOLD_MS - 1))).toEqual([]);
    expect(told(all(UNSENT_HOLD_MS))).toEqual([
      'agent-health=a: a: it cannot send to anybody on backend (ENETUNREACH), and says nothing of the others there',
    ]);
  });

  it('is held by what was seen where the agent does not say for how long: once, and until it can send', () => {
    let was: MuteFor = new Map();
    const codes = (...a: Sender[]): string[] => {
      const { conditions, muteFor } = sendConditions(a, new Set(), was, 500);
      was = muteFor;
      return conditions.map((c) => `${c.code}=${c.subject}`);
    };
    const log: string[][] = [];
    // Nothing leaves for a moment before it is known to whom.
    for (let ms = 0; ms <= 8000; ms += 500) {
      const forMs = ms - 500;
      log.push(codes(sender('a', forMs >= 1500 ? failing(others('a'), forMs) : undefined, 3), sender('b')));
    }
    expect(log.map((c) => c.join())).toEqual([
      ...Array<string>(10).fill(''),
      ...Array<string>(7).fill('agent-health=a'),
    ]);
    expect(codes(sender('a'), sender('b'))).toEqual([]);
    expect(codes(sender('a', undefined, 3), sender('b'))).toEqual([]);
  });

  it('is none of each where the network is out for most, which has an alarm of its own', () => {
    expect(
      told(
        NAMES.map((n) => sender(n, failing(others(n)), 36)),
        ['backend'],
      ),
    ).toEqual([]);
  });

  it('is about the one peer that several cannot send to, about a link, or about the one that cannot send to several', () => {
    const toE = NAMES.map((n) => (n === 'e' ? sender(n) : sender(n, failing(['e']))));
    expect(told(toE)).toEqual([
      'partly-heard=e: Probes between e and a, b, c, d do not leave their hosts on backend (ENETUNREACH): nothing is known of these links.',
    ]);
    expect(told([sender('a', failing(['b'])), sender('b')]).map((c) => c.split(':')[0])).toEqual(['link-down=a~b']);
    expect(told([sender('a', failing(['b', 'c'])), sender('b')]).map((c) => c.split(':')[0])).toEqual([
      'partly-heard=a',
    ]);
  });
});

describe('who is not judged', () => {
  const X = 3000;
  const unknown: Judgement = { verdict: 'UNKNOWN', networks: [], reason: 'Nobody hears it.' };
  const suspect: Judgement = { ...unknown, verdict: 'SUSPECT' };
  const check = (was: UnjudgedFor, o: { withoutQuorum?: boolean; judgement?: Judgement; passed?: number } = {}) =>
    unjudged([{ name: 'a', judgement: o.judgement ?? unknown }], was, o.withoutQuorum ?? false, o.passed ?? 1000, X);

  it('is an alarm with the reason once it has lasted, as long as the monitor looks and sees', () => {
    let was: UnjudgedFor = new Map();
    for (let ms = 0; ms <= UNJUDGED_HOLD_MS; ms += 1000) {
      const { conditions, unjudgedFor } = check(was);
      expect(conditions.map((c) => `${c.severity} ${c.code}=${c.subject}: ${c.message}`)).toEqual(
        ms < UNJUDGED_HOLD_MS ? [] : ['critical partly-heard=a: a is not judged, and not fenced. Nobody hears it.'],
      );
      was = unjudgedFor;
    }
    expect(check(was, { withoutQuorum: true })).toEqual({ conditions: [], unjudgedFor: new Map() });
    expect(check(was, { judgement: { ...unknown, reason: 'CONFLICT: two.' } }).conditions).toEqual([]);
    // Nobody looked meanwhile.
    expect(check(new Map([['a', { ms: 0, reported: false }]]), { passed: 0 }).conditions).toEqual([]);
  });

  it('is the same alarm for one that stays SUSPECT for 10 s beyond the silence timeout, until it is judged', () => {
    let was: UnjudgedFor = new Map();
    const at: number[] = [];
    for (let ms = 0; ms <= 20_000; ms += 1000) {
      const { conditions, unjudgedFor } = check(was, { judgement: suspect });
      if (conditions.length > 0) at.push(ms);
      was = unjudgedFor;
    }
    expect([at[0], at.length]).toEqual([X + SUSPECT_HOLD_MS, 8]);
    expect(check(was, { judgement: { ...suspect, verdict: 'DOWN' } })).toEqual({
      conditions: [],
      unjudgedFor: new Map(),
    });
    expect(check(was, { withoutQuorum: true, judgement: suspect }).conditions).toEqual([]);
  });

  it('stays told where an UNKNOWN becomes SUSPECT, and time in both is one', () => {
    const reported: UnjudgedFor = new Map([['a', { ms: UNJUDGED_HOLD_MS, reported: true }]]);
    expect(check(reported, { judgement: suspect }).conditions).toHaveLength(1);
    expect(check(new Map([['a', { ms: 6000, reported: false }]])).conditions).toHaveLength(1);
  });
});
