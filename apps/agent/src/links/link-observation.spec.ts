import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DetectionProfiles } from '#contracts/settings.js';
import { classOf, LinkObservations } from './link-observation.js';

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
const state = (links: LinkObservations): string => classOf(links.link('b', 'management')!, n);

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
    expect(links.echo('b', 'management', 'two', n.interval + 1)).toBe(true);
    expect(links.echo('b', 'management', 'two', n.interval + 2)).toBe(false);
  });

  it('does not count a probe that could not be sent', () => {
    const links = observing();
    for (let i = 0; i < 20; i++) {
      links.sent('b', 'management', `n${i}`, i * n.interval);
      links.unsent(`n${i}`);
      links.judge((i + 1) * n.interval);
    }
    expect(links.link('b', 'management')?.misses).toBe(0);
  });

  it('accuses nobody after a pause, however long: outstanding probes are void, old misses are not consecutive', () => {
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
