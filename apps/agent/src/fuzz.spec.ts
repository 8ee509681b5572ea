import { describe, expect, it } from 'vitest';
import { runs, SEED, seeded } from '#contracts/testing/chance.js';
import { DatagramFuzz, fuzzPeerList, fuzzPoll, fuzzReport } from './testing/fuzz.js';
import { Spoiler } from './testing/spoiled-input.js';

const INPUTS = runs(5_000);

describe(`whatever comes in, MUSTER_SEED=${SEED}`, () => {
  it('no bad datagram is believed or answered, and none does harm', () => {
    const fuzz = new DatagramFuzz(new Spoiler(seeded(SEED)));
    for (let i = 0; i < INPUTS; i++) fuzz.run();
  });

  it.each([
    ['peer list', fuzzPeerList],
    ['request of the monitor', fuzzPoll],
    ['report', fuzzReport],
  ])('no bad %s is taken', (_what, fuzz) => {
    const spoil = new Spoiler(seeded(SEED + 1));
    let taken = 0;
    for (let i = 0; i < INPUTS; i++) if (fuzz(spoil)) taken++;
    // Many changes make no difference (another name, another number): else the parsers would not be tried in their depth.
    expect(taken).toBeGreaterThan(INPUTS / 100);
    expect(taken).toBeLessThan(INPUTS);
  });
});
