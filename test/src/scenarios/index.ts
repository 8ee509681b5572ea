import type { Scenario } from '../scenario.js';
import { D15, D19D20, D2, detectionLong, monitor, networks } from './detection/index.js';
import { O13 } from './discovery.js';
import { R14etcd } from './etcd.js';
import { F19, F3 } from './fencing.js';
import { O2, O3, O4 } from './jobs.js';
import { R18 } from './healthy-check.js';
import { lostLeases } from './leases.js';
import { O15, O16 } from './forced-maintenance.js';
import { O14 } from './full-disk.js';
import { oneDeath } from './one-death.js';
import { orders } from './orders.js';
import { V13, V14, V15 } from './recovery.js';
import { O1, O10, O11, O12, O5 } from './requests.js';
import { R14nginx } from './nginx.js';
import { R14 } from './own-service.js';
import { R1, R15, R16 } from './return.js';
import { R17 } from './service-test.js';
import { storm } from './storms.js';
import { threeHosts } from './three-hosts.js';
import { D23 } from './tools.js';
import { unableFencers } from './unable-fencers.js';
import { F28, F28proven, F28unproven, F29 } from './wiring.js';
import { O6, O7, O8, O9 } from './workers.js';

/**
 * The daily ones: each group has a healed fleet of its own, in this order. Most of a scenario's time is waiting, so the
 * groups run beside each other; their fleets come up one after the other, so the first group is the longest. What is timed
 * stands first in the first: nothing else has begun then.
 */
export const daily: readonly (readonly Scenario[])[] = [
  [oneDeath, F3, F19, D2, D19D20, D23],
  [F29, ...networks, R1, V15, ...monitor],
  // From O4 on, each leaves the next the free nodes that it needs.
  [O1, D15, O2, O10, O4, O5, O3, O8, O6],
];

/** Too long for every day: `npm run test:long`. */
export const long: readonly Scenario[] = [
  ...detectionLong,
  ...storm,
  F28,
  F28unproven,
  F28proven,
  O12,
  O11,
  O9,
  O14,
  O15,
  O16,
  ...lostLeases,
  ...unableFencers,
  ...orders,
  R15,
  R16,
  V13,
  V14,
  R14,
  R14etcd,
  R14nginx,
  R17,
  R18,
  // The host that it discovers stays in the fleet: others count on how much room there is.
  O13,
  // It fills the logs that every audit after it reads.
  O7,
  ...threeHosts,
];
