import { describe, expect, it } from 'vitest';
import type { Hold, Reservations } from '#contracts';
import { releaseOne } from './reservations.js';

const hold: Hold = { job: 'j', kind: 'check', generation: 1, at: 1 };
const reservations: Reservations = {
  held: { 'n-1': hold, 'n-2': { ...hold, claim: 'c' }, 'n-3': { ...hold, job: 'k' } },
  pending: {},
  generation: 2,
};

describe('one node of a job', () => {
  it('is free alone, and claimed still', () => {
    const { held } = reservations;
    expect(releaseOne(reservations, 'j', 'n-1')).toEqual({
      ...reservations,
      held: { 'n-2': held['n-2'], 'n-3': held['n-3'] },
    });
    expect(releaseOne(reservations, 'j', 'n-2')?.held['n-2']).toEqual({ claim: 'c', generation: 1, at: 1 });
  });

  it('stays held by another job', () => {
    expect(releaseOne(reservations, 'j', 'n-3')).toBeUndefined();
    expect(releaseOne(reservations, 'j', 'n-4')).toBeUndefined();
  });
});
