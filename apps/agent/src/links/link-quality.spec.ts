import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import { LinkObservations } from './link-observation.js';
import { LinkQuality } from './link-quality.js';

const n = DetectionProfiles.lan;

/** Probes one link once per interval; the share that is told at the end. */
const told = (answered: boolean[]): number => {
  const links = new LinkObservations(n);
  links.watch(new Map([['b', ['management']]]));
  let now = 0;
  for (const answer of answered) {
    links.sent('b', 'management', `n${now}`, now);
    if (answer) links.echo('b', 'management', `n${now}`, now + 1);
    links.judge(now + n.interval - 1);
    now += n.interval;
  }
  return links.link('b', 'management')!.quality.lostPermille(now);
};
const rounds = (count: number, answered: (i: number) => boolean): boolean[] =>
  Array.from({ length: count }, (_, i) => answered(i));

describe('the quality of a link', () => {
  it('is the share of probes that were lost, and nothing where none was', () => {
    expect(told([])).toBe(0);
    expect(told(rounds(120, () => true))).toBe(0);
    expect(told(rounds(120, (i) => i % 5 !== 0))).toBe(200);
    expect(told(rounds(120, (i) => i % 100 !== 50))).toBeCloseTo(9, -0.5);
  });

  it('forgets within about a minute', () => {
    const lossy = rounds(40, (i) => i % 2 === 1);
    expect(told([...lossy, ...rounds(70, () => true)])).toBeGreaterThan(100);
    expect(told([...lossy, ...rounds(130, () => true)])).toBe(0);
    const quality = new LinkQuality();
    quality.count(10, 5, 5_000);
    expect(quality.lostPermille(54_999)).toBe(500);
    expect(quality.lostPermille(60_000)).toBe(0);
    expect(quality.lostPermille(6_000_000)).toBe(0);
  });

  it('does not count an outage, which is told by its misses', () => {
    expect(told([...rounds(60, () => true), ...rounds(20, () => false), ...rounds(10, () => true)])).toBe(0);
    expect(told([...rounds(60, () => true), ...rounds(5, () => false), ...rounds(10, () => true)])).toBe(
      Math.round(5000 / 75),
    );
  });

  it('does not count what could not be judged since the loop stood still', () => {
    const links = new LinkObservations(n);
    links.watch(new Map([['b', ['management']]]));
    for (let now = 0; now < 30_000; now += 1_000) {
      links.sent('b', 'management', `n${now}`, now);
      links.stoodStill(300, now + 300);
      links.sent('b', 'management', `m${now}`, now + 500);
      links.echo('b', 'management', `m${now}`, now + 501);
      links.judge(now + 900);
    }
    expect(links.link('b', 'management')!.quality.lostPermille(30_000)).toBe(0);
  });

  it('never exceeds what was lost of the last minute by any order of time', () => {
    const event = fc.record({ after: fc.integer({ min: 0, max: 30_000 }), lost: fc.integer({ min: 0, max: 5 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const quality = new LinkQuality();
        const counted: { at: number; lost: number }[] = [];
        let now = 0;
        for (const { after, lost } of events) {
          now += after;
          quality.count(lost + 1, lost, now);
          counted.push({ at: now, lost });
        }
        const share = quality.lostPermille(now);
        const within = counted.filter((c) => c.at > now - 60_000);
        if (within.every((c) => c.lost === 0)) expect(share).toBe(0);
        expect(share).toBeLessThanOrEqual(Math.round((1000 * 5) / 6));
      }),
    );
  });
});
