import type { Scenario } from '../scenario.js';
import { agentsAndMonitor, deathAndNetworks, detectionLong } from './detection/index.js';
import { O13 } from './discovery.js';
import { F19, F3 } from './fencing.js';
import { O2, O3, O4 } from './jobs.js';
import { oneDeath } from './one-death.js';
import { O1, O10, O11, O12, O5 } from './requests.js';
import { R1 } from './return.js';
import { storm } from './storms.js';
import { D23 } from './tools.js';
import { F28, F29 } from './wiring.js';
import { O6, O7, O8, O9 } from './workers.js';

/** In the order in which they share one healed fleet; what is timed comes first. */
export const faults: readonly Scenario[] = [...deathAndNetworks, R1, oneDeath, F3, F19, F29];

/**
 * The same on a fleet of their own: the detection of agents and of the monitor itself, which leaves every node in service,
 * then the operations; from O4 on, each
 * leaves the next the free nodes that it needs.
 */
export const operations: readonly Scenario[] = [
  ...agentsAndMonitor,
  D23,
  O1,
  O2,
  O7,
  O10,
  O11,
  O12,
  O4,
  O5,
  O3,
  O8,
  O6,
  O9,
  O13,
];

/** Too long for every day: `npm run test:long`. */
export const long: readonly Scenario[] = [...detectionLong, ...storm, F28];
