import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { slowSpecs } from './slow-specs.mjs';

/** Of a file that nobody has measured: after those that are known to be slow, before those that are known to be quick. */
const UNKNOWN_SECONDS = 3;

/**
 * The order of the spec files: the longest first, so that at the end no worker is left alone with a long one. Where Jest
 * has run here before it goes by what it saw, as it always does; on a clean checkout, where it would go by the sizes of
 * the files, by {@link slowSpecs}.
 */
export default class LongestFirst extends Sequencer {
  time(test) {
    const seconds = slowSpecs[relative(test.context.config.rootDir, test.path)] ?? UNKNOWN_SECONDS;
    return super.time(test) ?? seconds * 1000;
  }
}
