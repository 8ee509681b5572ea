/**
 * `fast-check` as specs get it: every property, unless it says otherwise itself, has the seed and the runs of this run.
 * Not a set-up of each spec file: most do without it.
 */
import fc from 'fast-check';
import { runs, SEED } from '../../libs/contracts/src/testing/chance.js';

fc.configureGlobal({ seed: SEED, numRuns: runs(100) });

export default fc;
