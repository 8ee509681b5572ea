import { beforeEach, describe, expect, it } from 'vitest';
import { BEACON_PERIOD_MS, STORM_NEWS_MS } from '#contracts';
import { SETTLES_MS, SightWatch } from './sight-watch.js';

describe('the sight of the detector, as it is heard', () => {
  let sut: SightWatch;
  let now: number;
  const hear = (said: 'sighted' | 'reports' | 'own' | 'blind', o: { after?: number; epoch?: number } = {}): void => {
    now += o.after ?? 1_000;
    const blindBy = said === 'reports' || said === 'own' ? { blindBy: said } : {};
    sut.hear({ epoch: o.epoch ?? 1, seq: now, sighted: said === 'sighted', ...blindBy }, now);
  };

  beforeEach(() => {
    sut = new SightWatch();
    now = 0;
  });

  it('has settled once it lasts, and begins anew after each blindness, each silence and each change of detector', () => {
    hear('sighted');
    expect([sut.hasSettled(now), sut.hasSettled(now + SETTLES_MS)]).toEqual([false, true]);
    hear('sighted');
    expect(sut.hasSettled(now)).toBe(true);
    for (const end of [
      () => hear('own'),
      () => hear('sighted', { after: 3_000 }),
      () => hear('sighted', { epoch: now }),
    ]) {
      end();
      expect(sut.hasSettled(now + SETTLES_MS - 1)).toBe(false);
      hear('sighted');
      hear('sighted');
    }
  });

  it('tells of the end of a blindness that missing reports made, while that is news', () => {
    hear('sighted');
    hear('reports');
    expect(sut.ended(now)).toBeUndefined();
    hear('sighted');
    expect(sut.ended(now)).toEqual({ epoch: 1, seq: now });
    expect(sut.ended(now + STORM_NEWS_MS)).toBeUndefined();
  });

  it('tells of none that the detector brought about itself: by its start, a takeover, or a lost bus', () => {
    hear('own');
    hear('sighted');
    hear('reports');
    hear('sighted', { epoch: 2 });
    hear('reports', { epoch: 2 });
    hear('own', { epoch: 2, after: 4_000 });
    hear('sighted', { epoch: 2 });
    expect(sut.ended(now)).toBeUndefined();
  });

  it('tells of the end of one that it has not heard itself, where the same detector sees when it is heard again', () => {
    hear('sighted');
    hear('reports');
    hear('sighted', { after: 60_000 });
    expect(sut.ended(now)).toEqual({ epoch: 1, seq: now });
  });

  it('learns from the detector itself of an end that it did not hear, once', () => {
    const says = (o: { epoch?: number; ended: number }): void => {
      now += 1_000;
      sut.hear({ epoch: o.epoch ?? 1, seq: 90, sighted: true, blindnessEnded: { seq: o.ended, silent: ['n-1'] } }, now);
    };
    says({ ended: 70 });
    expect(sut.ended(now)).toEqual({ epoch: 1, seq: 70, silent: ['n-1'] });
    for (let n = 1_000; n < STORM_NEWS_MS; n += 1_000) says({ ended: 70 });
    expect([sut.ended(now), sut.ended(now + 1_000)]).toEqual([{ epoch: 1, seq: 70, silent: ['n-1'] }, undefined]);
    says({ ended: 69 });
    expect(sut.ended(now)).toBeUndefined();
    says({ ended: 80 });
    says({ epoch: 2, ended: 0 });
    expect(sut.ended(now)).toEqual({ epoch: 2, seq: 0, silent: ['n-1'] });
  });

  it('takes an end that it hears itself, and that the detector names, for one, of which nobody is named', () => {
    hear('sighted');
    hear('reports');
    now += 1_000;
    sut.hear({ epoch: 1, seq: 90, sighted: true, blindnessEnded: { seq: 70, silent: ['n-1'] } }, now);
    expect(sut.ended(now)).toEqual({ epoch: 1, seq: 70 });
  });

  it('settles anew where it learns of an end that it did not hear between two beacons', () => {
    hear('sighted');
    hear('sighted');
    now += 1_000;
    sut.hear({ epoch: 1, seq: 90, sighted: true, blindnessEnded: { seq: 80, silent: ['n-1'] } }, now);
    expect([sut.hasSettled(now), sut.hasSettled(now + SETTLES_MS)]).toEqual([false, true]);
    expect(sut.ended(now)).toEqual({ epoch: 1, seq: 80, silent: ['n-1'] });
  });

  it('finds an end itself, though one before it is still told of', () => {
    const told = { blindnessEnded: { seq: 70, silent: ['n-1'] } };
    now += 1_000;
    sut.hear({ epoch: 1, seq: 71, sighted: true, ...told }, now);
    hear('reports');
    now += 4_000;
    sut.hear({ epoch: 1, seq: 90, sighted: true, ...told }, now);
    expect(sut.ended(now)).toEqual({ epoch: 1, seq: 90, silent: undefined });
  });

  it('tells of it for longer than a conductor of a cluster needs to take over', () => {
    // The lease's ttl there, and the part of it that another waits longer; and a beacon.
    expect(STORM_NEWS_MS).toBeGreaterThan(14_000 * 1.25 + BEACON_PERIOD_MS);
  });

  it('takes the blindness of a detector that does not say why for missing reports where it saw before', () => {
    hear('blind');
    hear('sighted');
    expect(sut.ended(now)).toBeUndefined();
    hear('blind');
    hear('blind');
    hear('sighted');
    expect(sut.ended(now)).toBeDefined();
  });
});
