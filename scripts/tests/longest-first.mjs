import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import { slowSpecs } from './slow-specs.mjs';

/** Of a file that nobody has measured: after those that are known to be slow, before those that are known to be quick. */
const UNKNOWN_SECONDS = 3;

/**
 * The order of the spec files: the longest first, so that at the end no worker is left alone with a long one. Where they
 * have run here before it goes by what was seen, on a clean checkout by {@link slowSpecs}.
 */
export default class LongestFirst extends BaseSequencer {
  async sort(files) {
    return files.toSorted((a, b) => this.seconds(b) - this.seconds(a));
  }

  seconds(file) {
    const path = relative(this.ctx.config.root, file.moduleId);
    const seen = this.ctx.cache.getFileTestResults(`${file.project.name}:${path}`);
    return seen === undefined ? (slowSpecs[path] ?? UNKNOWN_SECONDS) : seen.duration / 1000;
  }
}
