import type { Mutant } from '../mutant.js';
export const lease: readonly Mutant[] = [];
