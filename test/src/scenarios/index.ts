import type { Scenario } from '../scenario.js';
import { D1, D3, D4 } from './detection.js';
import { F1, F19, F3 } from './fencing.js';
import { V1, V2, V6 } from './recovery.js';
import { R1, R3 } from './return.js';

/** In the order in which they share one healed fleet. */
export const scenarios: readonly Scenario[] = [D3, D4, R1, D1, F1, V1, R3, V2, V6, F3, F19];
