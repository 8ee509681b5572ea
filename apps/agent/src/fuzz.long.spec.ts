import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { SEED, seeded } from '#contracts/testing/chance.js';
import { DatagramFuzz, fuzzPeerList, fuzzPoll, fuzzReport } from './testing/fuzz.js';
import { Spoiler } from './testing/spoiled-input.js';

const INPUTS = 1_000_000;
/** Rounds after which the heap is looked at; the first warms up. */
const ROUNDS = 10;
/** Bytes: below the noise of a million inputs, above what is kept of none. */
const MOST_GROWTH = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Bytes in use after a full collection. */
const heap = (): number => {
  gc();
  return process.memoryUsage().heapUsed;
};

describe(`a million inputs, MUSTER_SEED=${SEED}`, () => {
  it('are not believed, do no harm and leave nothing behind', () => {
    const spoil = new Spoiler(seeded(SEED));
    const datagrams = new DatagramFuzz(spoil);
    const kinds = [() => datagrams.run(), () => fuzzPeerList(spoil), () => fuzzPoll(spoil), () => fuzzReport(spoil)];
    const heaps: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < INPUTS / ROUNDS; i++) kinds[i % kinds.length]!();
      heaps.push(heap());
    }
    process.stdout.write(`heap in MB after each tenth: ${heaps.map((h) => (h / 1024 / 1024).toFixed(1)).join(' ')}\n`);
    expect(heaps.at(-1)! - heaps[0]!).toBeLessThan(MOST_GROWTH);
  }, 1_800_000);
});
