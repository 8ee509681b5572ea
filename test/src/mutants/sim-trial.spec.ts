import { describe, expect, it } from 'vitest';
import { GREEN, type Outcome } from './outcome.js';
import { trialBySim } from './sim-trial.js';

const LATE = { reason: 'the simulation fleet ended without a result: 50 of 200' };

describe('the trial of a mutant by a simulation', () => {
  /** With the mutant the history of this number breaks a rule; `limit`: more than so many do not end in time. */
  function trial(o: { brokenAt?: number; wholeAt?: number; limit?: number }): { outcome: Outcome; played: string[] } {
    const played: string[] = [];
    const outcome = trialBySim('fleet', (histories, what) => {
      played.push(`${what} ${histories}`);
      const at = what === 'broken' ? o.brokenAt : o.wholeAt;
      if (histories > (o.limit ?? Infinity)) return LATE;
      return at !== undefined && at <= histories
        ? { killed: { sim: 'fleet', seed: 1, histories: at } }
        : { reason: GREEN };
    });
    return { outcome, played };
  }

  it('plays the whole product for no longer than it took to find the mutant', () => {
    const { outcome, played } = trial({ brokenAt: 5, limit: 20 });
    expect(outcome).toEqual({ killed: { sim: 'fleet', seed: 1, histories: 5 } });
    expect(played).toEqual(['broken 20', 'whole 20']);
  });

  it('plays more where few find nothing, and says that it is alive where none does', () => {
    expect(trial({ brokenAt: 150 }).played).toEqual(['broken 20', 'broken 200', 'whole 200']);
    expect(trial({}).outcome).toEqual({ reason: GREEN });
  });

  it('kills nothing by a simulation that is red although nothing is broken', () => {
    expect(trial({ brokenAt: 5, wholeAt: 7 }).outcome).toEqual({
      reason: 'fleet is red although nothing is broken',
    });
  });

  it('is no verdict where a simulation did not end', () => {
    expect(trial({ brokenAt: 150, limit: 20 }).outcome).toEqual(LATE);
  });
});
