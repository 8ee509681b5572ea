import { describe, expect, it } from 'vitest';
import { factsOf, many, vote, type Observation } from '../testing/target-facts.js';
import { tally, type TargetFacts } from './quorum.js';
import { VerdictLog } from './verdict-log.js';
import { judge, unexamined, type Judgement } from './verdict.js';

const verdict = (f: TargetFacts, was: Judgement = unexamined): string => judge(was, f, tally(f), 600_000).verdict;

describe('the quorum, by the number of members', () => {
  // Members, accusers, who hear it, who are absent → verdict.
  it.each<[number, number, number, number, string]>([
    [2, 1, 0, 0, 'SUSPECT'],
    [2, 0, 0, 1, 'UNKNOWN'],
    [3, 1, 1, 0, 'UP'],
    [3, 2, 0, 0, 'DOWN'],
    [3, 1, 0, 1, 'UNKNOWN'],
    [4, 3, 0, 0, 'DOWN'],
    [4, 2, 1, 0, 'DOWN'],
    [4, 1, 2, 0, 'UP'],
    [4, 2, 0, 1, 'UNKNOWN'],
    [5, 2, 2, 0, 'UP'],
    [5, 3, 1, 0, 'DOWN'],
    [5, 3, 0, 1, 'DOWN'],
    [5, 2, 0, 2, 'UNKNOWN'],
    [5, 4, 0, 0, 'DOWN'],
    [6, 2, 3, 0, 'UP'],
    [6, 3, 2, 0, 'DOWN'],
    [6, 3, 0, 2, 'UNKNOWN'],
    [6, 4, 0, 1, 'DOWN'],
    [6, 5, 0, 0, 'DOWN'],
  ])('%i members: %i report it down, %i hear, %i absent → %s', (members, down, hear, absent, wanted) => {
    const said = [...many(down, 'accuses'), ...many(hear, 'hears'), ...many(absent, 'absent')];
    expect(said).toHaveLength(members - 1);
    expect(verdict(factsOf(said))).toBe(wanted);
  });

  it('is right for every mix of reporting down, missing, hearing and absent observers of up to six members', () => {
    let cases = 0;
    for (let members = 2; members <= 6; members++)
      for (let down = 0; down < members; down++)
        for (let miss = 0; down + miss < members; miss++)
          for (let hear = 0; down + miss + hear < members; hear++)
            for (const witness of [false, true]) {
              const absent = members - 1 - down - miss - hear;
              const said = [
                ...many(down, 'accuses'),
                ...many(miss, 'suspects'),
                ...many(hear, 'hears'),
                ...many(absent, 'absent'),
              ];
              const reporting = members - 1 - absent;
              const sighted = 2 * reporting > members || (members === 2 && reporting === 1 && witness);
              const withoutQuorum = members === 2 ? reporting === 0 : 2 * reporting <= members;
              const wanted = withoutQuorum
                ? 'UNKNOWN'
                : sighted && 2 * down > members - 1
                  ? 'DOWN'
                  : 2 * (down + miss) > members - 1
                    ? 'SUSPECT'
                    : hear > 0
                      ? 'UP'
                      : 'UNKNOWN';
              const f = factsOf(said, { witness });
              expect([members, down, miss, hear, absent, witness, verdict(f)]).toEqual([
                members,
                down,
                miss,
                hear,
                absent,
                witness,
                wanted,
              ]);
              expect(tally(f)).toMatchObject({ accusers: down, hears: hear, assigned: members - 1 });
              cases++;
            }
    expect(cases).toBe(2 * (4 + 10 + 20 + 35 + 56));
  });

  it('exactly half of the observers is not most', () => {
    expect(verdict(factsOf(['accuses', 'accuses', 'hears', 'hears']))).toBe('UP');
    expect(verdict(factsOf(['accuses', 'accuses', 'suspects', 'suspects']))).toBe('SUSPECT');
  });

  it('with two members the witness decides whether the monitor may judge', () => {
    expect(verdict(factsOf(['accuses'], { witness: true }))).toBe('DOWN');
    expect(verdict(factsOf(['accuses'], { witness: false }))).toBe('SUSPECT');
    expect(verdict(factsOf(['hears'], { witness: true }))).toBe('UP');
  });

  it('with two members it says which witness has not answered, or that none is set', () => {
    const reason = (witnessAt: string): string => {
      const f = factsOf(['accuses'], { witness: false, witnessAt });
      return judge(unexamined, f, tally(f), 0).reason;
    };
    expect(reason('10.0.0.1:80')).toContain('witness 10.0.0.1:80 must answer, and has not');
    expect(reason('')).toContain('none is set (muster settings set witness=HOST:PORT)');
  });

  it('the last member is never called dead', () => {
    expect(verdict(factsOf([], { members: 1 }))).toBe('UNKNOWN');
    expect(verdict(factsOf([], { members: 1, reporters: 1, ownFresh: true }))).toBe('UP');
  });
});

describe('in a large fleet', () => {
  const ring = many(16, 'accuses');
  /** 40 members; 39 are polled. */
  const polled = (down: number, hear: number, watching: Observation[] = ring): TargetFacts => ({
    ...factsOf(watching, { members: 40, reporters: 39, otherReporters: 39 }),
    polled: [...many(down, 'accuses'), ...many(hear, 'hears'), ...many(39 - down - hear, 'absent')].map((said, i) =>
      vote(said, 100 + i),
    ),
  });

  it('the polled decide, not the few who watch', () => {
    expect(verdict(polled(20, 0))).toBe('DOWN');
    expect(verdict(polled(39, 0))).toBe('DOWN');
    expect(verdict(polled(19, 0))).toBe('SUSPECT');
    expect(verdict(polled(19, 20))).toBe('SUSPECT');
    expect(verdict({ ...polled(0, 0), polled: [] })).toBe('SUSPECT');
  });

  it('whoever has not answered, is stale or abstains is in the denominator', () => {
    const f = polled(32, 0);
    const votes = [...many(32, 'accuses'), ...many(32, 'absent')].map(vote);
    expect(verdict({ ...f, members: 1000, reporters: 900, otherReporters: 900, polled: votes })).toBe('SUSPECT');
    votes[32] = vote('accuses', 32);
    expect(verdict({ ...f, members: 1000, reporters: 900, otherReporters: 900, polled: votes })).toBe('DOWN');
  });

  it('most of those who watch must have missed it for as long as in a small one', () => {
    expect(verdict(polled(39, 0, many(16, 'suspects')))).toBe('SUSPECT');
    expect(verdict(polled(39, 0, [...many(8, 'accuses'), ...many(8, 'suspects')]))).toBe('SUSPECT');
    expect(verdict(polled(39, 0, [...many(9, 'accuses'), ...many(7, 'absent')]))).toBe('DOWN');
  });

  it('one of the polled that hears it is counted, keeps nothing up that most report down, and is a sign of life', () => {
    const down: Judgement = { verdict: 'DOWN', networks: [], reason: 'dead' };
    const one = polled(38, 1);
    expect(tally(one)).toMatchObject({ hears: 1, accusers: 38, assigned: 39 });
    expect(verdict(one)).toBe('DOWN');
    expect(verdict(polled(19, 1), down)).toBe('SUSPECT');
    expect(verdict(polled(0, 0), down)).toBe('DOWN');
  });

  it('nobody is polled about who is heard', () => {
    const calm = polled(0, 0, many(16, 'hears'));
    expect(verdict({ ...calm, polled: [] })).toBe('UP');
  });
});

describe('what speaks against a death', () => {
  const all = many(4, 'accuses');
  it.each<[string, Partial<TargetFacts>, string]>([
    ['nothing', {}, 'DOWN'],
    ['its own fresh report', { ownFresh: true }, 'SUSPECT'],
    ['a report that was fresh a moment ago', { ownSilenceMs: 2400 }, 'SUSPECT'],
    ['an echo to the monitor', { ownProbe: 'echo' }, 'SUSPECT'],
    ['that the monitor has not looked yet', { ownProbe: 'unknown' }, 'SUSPECT'],
    ['that it said goodbye', { leftMs: 5000 }, 'LEFT'],
    ['a goodbye whose grace is over does not', { leftMs: 600_001 }, 'DOWN'],
    ['that its agent was stopped a moment ago', { leftMs: 59_999, left: 'stop' }, 'LEFT'],
    ['an agent that was stopped a minute ago does not', { leftMs: 60_001, left: 'stop' }, 'DOWN'],
    ['that it went down for a reboot a minute ago', { leftMs: 60_001, left: 'reboot' }, 'LEFT'],
    ['that two machines have its name', { conflict: true }, 'UNKNOWN'],
    ['that most reporters are gone', { reporters: 2, otherReporters: 2 }, 'UNKNOWN'],
  ])('%s', (_what, over, wanted) => {
    expect(verdict(factsOf(all, over))).toBe(wanted);
  });
});

describe('who cannot send', () => {
  const judged = (f: TargetFacts): Judgement => judge(unexamined, f, tally(f), 600_000);

  it('neither reports it down nor hears it, and the reason says why nobody is judged', () => {
    expect(judged(factsOf(many(4, 'mute')))).toMatchObject({
      verdict: 'UNKNOWN',
      reason: 'Nobody hears it, and too few say that it is silent; 4 of 4 observers cannot send to it on backend.',
    });
    expect(judged(factsOf(['accuses', 'accuses', 'mute', 'mute'])).verdict).toBe('UNKNOWN');
    expect(judged(factsOf(['accuses', 'accuses', 'accuses', 'mute'])).verdict).toBe('DOWN');
    expect(judged(factsOf(many(4, 'mute'), { ownFresh: true }))).toMatchObject({ networks: ['management'] });
  });

  it('takes a network out for the living as well, where it is most: DEGRADED, until it no longer is', () => {
    const out = { out: ['backend'], ownFresh: true };
    const degraded = judged(factsOf(many(4, 'hears-management'), out));
    expect(degraded).toMatchObject({
      verdict: 'DEGRADED',
      networks: ['backend'],
      reason: 'Silent on backend: most members cannot send to anybody on backend.',
    });
    expect(judged(factsOf(many(4, 'absent'), { ...out, reporters: 5 }))).toMatchObject({ networks: ['backend'] });
    const healed = factsOf(many(4, 'hears'), { ownFresh: true });
    const soon = judge(degraded, healed, tally(healed), 600_000);
    expect(soon).toMatchObject({ verdict: 'DEGRADED', reason: 'Heard with gaps on backend.' });
    const later = { ...healed, now: healed.silenceTimeoutMs };
    expect(judge(soon, later, tally(later), 600_000).verdict).toBe('UP');
  });

  it('is left out of what a death rests on, and the reason says so', () => {
    expect(judged(factsOf(many(4, 'accuses'), { out: ['backend'] }))).toMatchObject({
      verdict: 'DOWN',
      reason: expect.stringMatching(/; backend does not count, for most cannot send there\.$/),
    });
  });
});

describe('a verdict holds', () => {
  const down: Judgement = { verdict: 'DOWN', networks: [], reason: 'dead' };
  const suspect: Judgement = { ...down, verdict: 'SUSPECT' };
  const degraded: Judgement = { verdict: 'DEGRADED', networks: ['backend'], reason: '' };

  it('DOWN while observers restart or abstain, until there is a sign of life', () => {
    expect(verdict(factsOf(many(4, 'suspects')), down)).toBe('DOWN');
    expect(verdict(factsOf(['accuses', 'suspects', 'suspects', 'absent']), down)).toBe('DOWN');
    expect(verdict(factsOf(many(4, 'suspects'), { ownFresh: true }), down)).toBe('SUSPECT');
    expect(verdict(factsOf(['accuses', 'accuses', 'hears', 'hears']), down)).toBe('UP');
    expect(verdict(factsOf(many(4, 'hears')), down)).toBe('UP');
  });

  it('DOWN no longer than most observers miss it and enough others report', () => {
    const sighted = { reporters: 4, otherReporters: 4 };
    expect(verdict(factsOf(many(4, 'absent'), sighted), down)).toBe('SUSPECT');
    expect(verdict(factsOf(['accuses', 'accuses', 'absent', 'absent'], sighted), down)).toBe('SUSPECT');
    expect(verdict(factsOf(['accuses'], { witness: true }), down)).toBe('DOWN');
    expect(verdict(factsOf(['accuses'], { witness: false }), down)).toBe('SUSPECT');
  });

  it('nothing, once everybody is to be examined anew', () => {
    const log = new VerdictLog();
    log.begin(1);
    const none = { observers: [], assigned: 0, accusers: 0, members: 0, sightedReporters: 0 };
    log.say('n0', down, {}, 0, () => none);
    log.sayAgain();
    expect(log.judgementOf('n0').verdict).toBe('UNKNOWN');
    expect(log.say('n0', down, {}, 0, () => none)).toBe(true);
  });

  it('and is news all the same when the node has booted, or its agent was started, anew', () => {
    const log = new VerdictLog();
    log.begin(1);
    const none = { observers: [], assigned: 0, accusers: 0, members: 0, sightedReporters: 0 };
    const up: Judgement = { verdict: 'UP', networks: [], reason: '' };
    const say = (bootId: string, agentEpoch: number): boolean =>
      log.say('n0', up, { bootId, agentEpoch }, 0, () => none);
    expect([say('a', 1), say('a', 1), say('a', 2), say('b', 2), say('b', 2)]).toEqual([true, false, true, true, false]);
    expect(log.waiting()).toMatchObject([{ verdict: 'UP', bootId: 'b', agentEpoch: 2, seq: 3 }]);
  });

  it('no longer than the node is watched, whatever it was', () => {
    const log = new VerdictLog();
    log.begin(1);
    const none = { observers: [], assigned: 0, accusers: 0, members: 0, sightedReporters: 0 };
    const up: Judgement = { verdict: 'UP', networks: [], reason: '' };
    for (const node of ['n0', 'n1']) log.say(node, up, {}, 0, () => none);
    log.keepOnly(new Set(['n1']));
    expect(log.judgementOf('n0')).toBe(unexamined);
    expect(log.judgementOf('n1')).toBe(up);
    expect(log.waiting().map((v) => v.node)).toEqual(['n1']);
  });

  it('SUSPECT until someone hears it', () => {
    const unsure = { reporters: 4, otherReporters: 4 };
    expect(verdict(factsOf(many(4, 'absent'), unsure), suspect)).toBe('SUSPECT');
    expect(verdict(factsOf(many(4, 'absent'), unsure))).toBe('UNKNOWN');
    expect(verdict(factsOf(many(4, 'hears')), suspect)).toBe('UP');
  });

  it('DEGRADED for a quarter of the silence timeout at most when nothing shows any more that it lives', () => {
    const heard = factsOf(many(4, 'hears-management'), { ownFresh: true });
    const was = judge(degraded, heard, tally(heard), 600_000);
    const missed = (now: number): string => verdict(factsOf(many(4, 'suspects'), { now }), was);
    expect([missed(heard.silenceTimeoutMs / 4 - 1), missed(heard.silenceTimeoutMs / 4)]).toEqual([
      'DEGRADED',
      'SUSPECT',
    ]);
  });

  it('DEGRADED while most report it down and somebody hears it, for twice the silence timeout at most, and not when nobody does', () => {
    const reported = factsOf([...many(3, 'accuses'), 'hears']);
    const at = (now: number, was: Judgement, f = reported): Judgement => judge(was, { ...f, now }, tally(f), 600_000);
    const heard = at(0, degraded);
    expect([heard.verdict, at(2 * reported.silenceTimeoutMs - 1, heard).verdict]).toEqual(['DEGRADED', 'DEGRADED']);
    expect(at(2 * reported.silenceTimeoutMs, heard).verdict).toBe('DOWN');
    expect(at(1, heard, factsOf(many(4, 'accuses'))).verdict).toBe('DOWN');
  });

  it('DEGRADED by most observers, until most of those who speak of it there are answered for the silence timeout', () => {
    const alive = { ownFresh: true };
    expect(verdict(factsOf(many(4, 'hears-management'), alive))).toBe('DEGRADED');
    expect(verdict(factsOf(['hears-management', 'hears-management', 'hears', 'hears'], alive))).toBe('UP');
    expect(verdict(factsOf(many(4, 'absent'), { ...alive, reporters: 5 }), degraded)).toBe('DEGRADED');
    const heard = factsOf(many(4, 'hears'), alive);
    const at = (now: number, was: Judgement): Judgement => judge(was, { ...heard, now }, tally(heard), 600_000);
    const soon = at(heard.silenceTimeoutMs - 1, at(0, degraded));
    expect(soon.verdict).toBe('DEGRADED');
    expect(at(heard.silenceTimeoutMs, soon).verdict).toBe('UP');
    const missed = factsOf([...many(2, 'hears'), ...many(2, 'hears-management')], { ...alive, now: 1000 });
    expect(at(heard.silenceTimeoutMs, judge(at(0, degraded), missed, tally(missed), 0)).verdict).toBe('DEGRADED');
  });
});
