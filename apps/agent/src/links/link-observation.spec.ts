import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { linkClass } from '#contracts/wire/link.js';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import { DUE_SHARE, LinkObservations } from './link-observation.js';

const n = DetectionProfiles.lan;
const PEERS = new Map([['b', ['backend', 'management']]]);

const observing = (): LinkObservations => {
  const links = new LinkObservations(n);
  links.watch(PEERS);
  return links;
};

/** Probes once per interval from `from` on, answers where `answered` says so, and judges in between. */
const probe = (links: LinkObservations, rounds: number, from: number, answered: (i: number) => boolean): number => {
  let now = from;
  for (let i = 0; i < rounds; i++, now += n.interval) {
    links.sent('b', 'management', `n${now}`, now);
    if (answered(i)) links.echo('b', 'management', `n${now}`, now + 1);
    links.judge(now + n.interval - 1);
  }
  return now;
};
const state = (links: LinkObservations, by = n): string => {
  const { misses, rttUs } = links.link('b', 'management')!;
  return linkClass(misses, rttUs, by);
};
/** Probes that do not leave, once per interval. */
const fail = (links: LinkObservations, rounds: number, from: number): number => {
  let now = from;
  for (let i = 0; i < rounds; i++, now += n.interval) {
    links.sent('b', 'management', `n${now}`, now);
    links.unsent(`n${now}`, now + 1, 'ENETUNREACH');
    links.judge(now + n.interval - 1);
  }
  return now;
};

describe('observation of a link', () => {
  it('knows nothing at first, hears after an echo, misses after three and is silent after six', () => {
    const links = observing();
    expect(state(links)).toBe('unknown');
    const t = probe(links, 1, 0, () => true);
    expect(state(links)).toBe('heard');
    const u = probe(links, 3, t, () => false);
    expect(state(links)).toBe('missing');
    probe(links, 2, u, () => false);
    expect(state(links)).toBe('missing');
    probe(links, 1, u + 2 * n.interval, () => false);
    expect(state(links)).toBe('silent');
    expect(links.link('b', 'management')?.rttUs).toBe(-1);
  });

  it('starts to count anew with every echo', () => {
    const links = observing();
    probe(links, 30, 0, (i) => i % 6 === 5);
    expect(state(links)).toBe('heard');
  });

  it('ignores late, doubled and foreign echoes', () => {
    const links = observing();
    links.sent('b', 'management', 'one', 0);
    links.judge(n.interval);
    expect(links.echo('b', 'management', 'one', n.interval)).toBe(false);
    links.sent('b', 'management', 'two', n.interval);
    expect(links.echo('b', 'backend', 'two', n.interval + 1)).toBe(false);
    expect(links.echo('c', 'management', 'two', n.interval + 1)).toBe(false);
    expect(links.echo('b', 'management', 'another', n.interval + 1)).toBe(false);
    expect(links.echo('b', 'management', 'two', n.interval + 1)).toBe(true);
    expect(links.echo('b', 'management', 'two', n.interval + 2)).toBe(false);
  });

  it('does not count a probe that could not be sent', () => {
    const links = observing();
    fail(links, 20, 0);
    expect(links.link('b', 'management')?.misses).toBe(0);
    expect(links.unsentProbes).toBe(20);
  });

  it('hears nobody any more, and reports nobody down, after as many probes that could not be sent as make a suspect', () => {
    for (const wasSilent of [false, true]) {
      const links = observing();
      const t = wasSilent ? probe(links, 8, 0, () => false) : probe(links, 1, 0, () => true);
      const u = fail(links, n.suspectMisses - 1, t);
      expect([state(links), links.unsentBy(['management'], u)]).toEqual([wasSilent ? 'silent' : 'heard', {}]);
      const { changes } = links;
      const v = fail(links, 1, u);
      expect(links.link('b', 'management')).toMatchObject({ misses: 0, rttUs: -1 });
      expect(links.changes).toBeGreaterThan(changes);
      expect(links.unsentBy(['backend', 'management'], v)).toEqual({
        management: { peers: ['b'], probes: 3, forMs: v - t - 1, error: 'ENETUNREACH' },
      });
      expect(links.link('b', 'backend')).toMatchObject({ misses: 0 });
    }
  });

  it('is judged again by the first probe that leaves', () => {
    const links = observing();
    const t = fail(links, 30, 0);
    const { changes } = links;
    const u = probe(links, 1, t, () => false);
    expect([links.unsentBy(['management'], u), links.changes]).toEqual([{}, changes + 1]);
    probe(links, 5, u, () => false);
    expect(state(links)).toBe('silent');
    const again = fail(links, 30, u + 5 * n.interval);
    probe(links, 1, again, () => true);
    expect(state(links)).toBe('heard');
  });

  it('has heard by an echo no longer than until a suspect of probes, lost, failed or both, and is silent by lost ones only', () => {
    const step = fc.constantFrom<'echo' | 'lost' | 'fails'>('echo', 'lost', 'lost', 'fails', 'fails');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const links = observing();
        let [now, unanswered, lost, failed] = [0, 0, 0, 0];
        for (const s of steps) {
          now = s === 'fails' ? fail(links, 1, now) : probe(links, 1, now, () => s === 'echo');
          unanswered = s === 'echo' ? 0 : unanswered + 1;
          failed = s === 'fails' ? failed + 1 : 0;
          lost = s === 'echo' || failed >= n.suspectMisses ? 0 : s === 'lost' ? lost + 1 : lost;
          if (unanswered >= n.suspectMisses) expect(state(links)).not.toBe('heard');
          expect(state(links) === 'silent').toBe(lost >= n.misses);
          expect(links.unsentBy(['management'], now)['management']?.probes ?? 0).toBe(
            failed >= n.suspectMisses ? failed : 0,
          );
        }
      }),
    );
  });

  it('reports nobody down after a pause, however long: outstanding probes are void, old misses are not consecutive', () => {
    const links = observing();
    const t = probe(links, 5, 0, () => false);
    links.sent('b', 'management', 'outstanding', t);
    links.stoodStill(20_000, t + 20_000);
    links.judge(t + 20_001);
    expect(links.link('b', 'management')?.misses).toBe(0);
    expect(state(links)).toBe('unknown');
    expect(links.abstains(t + 20_100)).toBe(true);
    expect(links.abstains(t + 20_000 + 2 * n.interval)).toBe(false);
  });

  it('keeps its counts over a short pause, and judges nothing of it', () => {
    const links = observing();
    const t = probe(links, 5, 0, () => false);
    links.sent('b', 'management', 'outstanding', t);
    links.stoodStill(400, t + 400);
    links.judge(t + 10_000);
    expect(links.link('b', 'management')?.misses).toBe(5);
  });

  it('names the next probe that is due on a link which misses some already, and none while nothing is missed', () => {
    const links = new LinkObservations(n);
    links.watch(PEERS);
    expect(links.nextMissDue()).toBeUndefined();
    links.sent('b', 'backend', 'b0', 0);
    links.sent('b', 'management', 'm0', 10);
    expect(links.nextMissDue()).toBeUndefined();
    links.echo('b', 'backend', 'b0', 20);
    links.judge(450);
    links.sent('b', 'backend', 'b1', 500);
    links.sent('b', 'management', 'm1', 510);
    expect(links.nextMissDue()).toBe(510 + n.interval * DUE_SHARE);
    links.judge(950);
    links.sent('b', 'backend', 'b2', 1000);
    links.sent('b', 'management', 'm2', 1010);
    expect(links.nextMissDue()).toBe(1000 + n.interval * DUE_SHARE);
  });

  it('tells of every change of class, and of nothing else', () => {
    const links = observing();
    const t = probe(links, 1, 0, () => true);
    const after = links.changes;
    const u = probe(links, 10, t, () => true);
    expect(links.changes).toBe(after);
    probe(links, 3, u, () => false);
    expect(links.changes).toBe(after + 1);
  });

  it('is silent on the whole only when every shared network is', () => {
    const links = observing();
    probe(links, 8, 0, () => false);
    expect(links.silentFor('b', n.misses)).toBe(false);
    links.watch(new Map([['b', ['management']]]));
    expect(links.silentFor('b', n.misses)).toBe(true);
    expect(links.silentFor('nobody', 1)).toBe(false);
  });

  describe('with other numbers from now on', () => {
    const { lan, fast, wan } = DetectionProfiles;
    const all = [lan, fast, wan];
    const tunable = (start = lan): LinkObservations => {
      const links = new LinkObservations(start);
      links.watch(new Map([['b', ['management']]]));
      return links;
    };
    const missOne = (links: LinkObservations, numbers: typeof n, now: number): number => {
      links.sent('b', 'management', `n${now}`, now);
      links.judge(now + numbers.interval * 0.8);
      return now + numbers.interval;
    };
    const misses = (links: LinkObservations): number => links.link('b', 'management')!.misses;

    it('keeps no report of a silence that the slower ones would not have made yet, and makes it when they do', () => {
      const links = tunable(fast);
      let now = 0;
      for (let i = 0; i < 10; i++) now = missOne(links, fast, now);
      expect(links.silentFor('b', fast.misses)).toBe(true);
      // 10 misses in 2.5 s are no 10 s of silence.
      links.tune(wan);
      expect(misses(links)).toBe(2);
      expect(state(links, wan)).toBe('unknown');
      for (let i = 0; i < 7; i++) now = missOne(links, wan, now);
      expect(links.silentFor('b', wan.misses)).toBe(false);
      missOne(links, wan, now);
      expect(links.silentFor('b', wan.misses)).toBe(true);
    });

    it('counts no more misses at the faster ones than there were probes', () => {
      const links = tunable(lan);
      let now = 0;
      for (let i = 0; i < 4; i++) now = missOne(links, lan, now);
      links.tune(fast);
      expect(misses(links)).toBe(4);
      now = missOne(links, fast, missOne(links, fast, now));
      expect(links.silentFor('b', fast.misses)).toBe(true);
    });

    it('gives a probe that is outstanding the longer of the two times', () => {
      const links = tunable(fast);
      links.sent('b', 'management', 'one', 0);
      links.tune(wan);
      links.judge(700);
      expect(misses(links)).toBe(0);
      expect(links.echo('b', 'management', 'one', 750)).toBe(true);
    });

    it('abstains after a standstill for as long as the present ones need to probe every link', () => {
      const links = tunable(fast);
      links.stoodStill(300, 1_000);
      expect(links.abstains(1_449)).toBe(true);
      expect(links.abstains(1_451)).toBe(false);
      links.tune(wan);
      expect(links.abstains(2_700)).toBe(true);
      expect(links.abstains(2_801)).toBe(false);
    });

    it('is the same as before where nothing changed', () => {
      const links = tunable(lan);
      let now = 0;
      for (let i = 0; i < 5; i++) now = missOne(links, lan, now);
      const { changes } = links;
      links.tune({ ...lan });
      expect(misses(links)).toBe(5);
      expect(links.changes).toBe(changes);
    });

    it('reports a peer down only after enough probes and, within one interval, enough silence by the present ones, whatever came before', () => {
      const step = fc.oneof(
        { weight: 6, arbitrary: fc.constant('miss' as const) },
        { weight: 1, arbitrary: fc.constant('echo' as const) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 }) },
      );
      fc.assert(
        fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
          let numbers = lan;
          const links = tunable(lan);
          let now = 0;
          let sinceEcho = 0;
          let firstLostAt = 0;
          for (const s of steps) {
            if (typeof s === 'number') links.tune((numbers = all[s]!));
            else if (s === 'echo') {
              links.sent('b', 'management', `e${now}`, now);
              links.echo('b', 'management', `e${now}`, now + 1);
              now += numbers.interval;
              sinceEcho = 0;
            } else {
              if (sinceEcho++ === 0) firstLostAt = now;
              now = missOne(links, numbers, now);
            }
            if (links.silentFor('b', numbers.misses)) {
              expect(sinceEcho).toBeGreaterThanOrEqual(numbers.misses);
              expect(now - firstLostAt).toBeGreaterThanOrEqual(numbers.interval * numbers.misses);
            }
          }
        }),
      );
    });
  });

  it('no longer awaits an echo of a peer that it has stopped to probe', () => {
    const links = observing();
    probe(links, 30, 0, () => false);
    links.sent('b', 'management', 'last', 99_000);
    links.leave('b');
    expect(links.echo('b', 'management', 'last', 99_001)).toBe(false);
    expect(state(links)).toBe('silent');
  });

  it('never has more misses than probes that were sent and due since the last echo or long pause', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('probe' as const), answered: fc.boolean(), due: fc.boolean() }),
      fc.record({ kind: fc.constant('pause' as const), ms: fc.integer({ min: 251, max: 10_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const links = observing();
        let now = 0;
        let most = 0;
        steps.forEach((s, i) => {
          if (s.kind === 'pause') {
            now += s.ms;
            links.stoodStill(s.ms, now);
            if (s.ms > n.interval * n.misses) most = 0;
            return;
          }
          links.sent('b', 'management', `n${i}`, now);
          if (s.answered && links.echo('b', 'management', `n${i}`, now + 1)) most = 0;
          now += s.due ? n.interval : 10;
          links.judge(now);
          if (!s.answered && s.due) most++;
        });
        expect(links.link('b', 'management')!.misses).toBeLessThanOrEqual(most);
      }),
    );
  });
});
