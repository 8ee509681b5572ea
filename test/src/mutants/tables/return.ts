import type { Mutant } from '../mutant.js';
export const returns: readonly Mutant[] = [];
