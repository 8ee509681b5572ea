import fc from 'fast-check';
import { runs, SEED } from './chance.js';

/** Jest's set-up of each spec: every property, unless it says otherwise itself, has the seed and the runs of this run. */
fc.configureGlobal({ seed: SEED, numRuns: runs(100) });
