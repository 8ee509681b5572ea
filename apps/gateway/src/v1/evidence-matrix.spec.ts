import { describe, expect, it } from 'vitest';
import { DetectionProfiles, type ObserverEvidence, type Verdict } from '#contracts';
import { evidenceMatrix } from './evidence-matrix.js';
import { standsSince } from './node-evidence.js';

const said = (o: Partial<ObserverEvidence> = {}): ObserverEvidence => ({
  observer: 'a-1',
  network: 'management',
  misses: 0,
  rttUs: 300,
  reportAgeMs: 400,
  stance: 'hears',
  ...o,
});
const matrix = (...o: Partial<ObserverEvidence>[]) => evidenceMatrix(o.map(said), DetectionProfiles.lan);
const health = (o: Partial<ObserverEvidence>): string | undefined =>
  matrix(o).observers[0]?.networks['management']?.health;

describe('the matrix of the evidence', () => {
  it('has a row for each observer and a column for each network', () => {
    expect(
      matrix(
        { network: 'backend', misses: 7, lostPermille: 58 },
        {},
        { observer: 'c-3', network: 'backend', stance: 'accuses', misses: 8, polled: true, reportAgeMs: 90 },
      ),
    ).toEqual({
      networks: ['management', 'backend'],
      observers: [
        {
          observer: 'c-3',
          stance: 'accuses',
          polled: true,
          reportAgeMs: 90,
          networks: { backend: { health: 'silent', misses: 8, rttUs: 300 } },
        },
        {
          observer: 'a-1',
          stance: 'hears',
          reportAgeMs: 400,
          networks: {
            management: { health: 'heard', misses: 0, rttUs: 300 },
            backend: { health: 'silent', misses: 7, rttUs: 300, lostPermille: 58 },
          },
        },
      ],
    });
  });

  it('has a row for each who was to speak and has not, behind those that have', () => {
    const { networks, observers } = evidenceMatrix(
      [said({ stance: 'absent', abstains: true })],
      DetectionProfiles.lan,
      [
        { observer: 'A-0', why: 'never-heard' },
        { observer: 'Z-9', why: 'no-answer', reportAgeMs: 70, polled: true },
      ],
    );
    expect(networks).toEqual(['management']);
    expect(observers.slice(1)).toEqual([
      { observer: 'A-0', stance: 'absent', wordless: 'never-heard', networks: {} },
      { observer: 'Z-9', stance: 'absent', wordless: 'no-answer', polled: true, reportAgeMs: 70, networks: {} },
    ]);
    expect(observers[0]?.observer).toBe('a-1');
  });

  it('takes the answer of a poll for itself, beside what the same observer sees by the plan', () => {
    const polled = (misses: number): Partial<ObserverEvidence> => ({ polled: true, misses });
    expect([0, 1, 2, 3].map((misses) => health(polled(misses)))).toEqual(['heard', 'missing', 'silent', 'silent']);
    const rows = matrix({ misses: 7 }, polled(0)).observers;
    expect(rows.map((r) => [r.polled, r.networks['management']?.health])).toEqual([
      [undefined, 'silent'],
      [true, 'heard'],
    ]);
  });

  it('says of each cell how it counts, and before that whether it counts at all', () => {
    expect([0, 2, 3, 5, 6, 100].map((misses) => health({ misses }))).toEqual([
      'heard',
      'heard',
      'missing',
      'missing',
      'silent',
      'silent',
    ]);
    const { rttUs: _none, ...unanswered } = said();
    expect(evidenceMatrix([unanswered], DetectionProfiles.lan).observers[0]?.networks['management']?.health).toBe(
      'unknown',
    );
    expect(health({ misses: 9, reportAgeMs: 2_500 })).toBe('silent');
    expect(health({ misses: 9, reportAgeMs: 2_501 })).toBe('stale');
    expect(health({ misses: 9, abstains: true })).toBe('abstains');
    expect(health({ abstains: true, reportAgeMs: 9_000 })).toBe('stale');
    expect(health({ misses: 9, mute: true })).toBe('mute');
  });
});

describe('since when a verdict stands', () => {
  const v = (verdict: Verdict['verdict'], at: number, networks: string[] = []): Verdict =>
    ({ verdict, at, networks }) as unknown as Verdict;

  it('is when it was first said without another word in between, by whichever detector', () => {
    const told = [v('DOWN', 9), v('DOWN', 8), v('SUSPECT', 7), v('DOWN', 6)];
    expect(standsSince(v('DOWN', 10), told)).toBe(8);
    expect(standsSince(v('UP', 10), told)).toBeUndefined();
    expect(standsSince(v('UP', 10), [])).toBeUndefined();
    const degraded = [v('DEGRADED', 9, ['backend']), v('DEGRADED', 8, ['management'])];
    expect(standsSince(v('DEGRADED', 10, ['backend']), degraded)).toBe(9);
  });
});
