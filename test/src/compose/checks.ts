import type { Check } from './check.js';
import { containmentChecks } from './containment-checks.js';
import { faultChecks } from './fault-checks.js';
import { fleetChecks, lastFleetChecks } from './fleet-checks.js';
import { handChecks } from './hand-checks.js';
import { closingChecks, installationChecks } from './installation-checks.js';

/** In their order: each finds what the ones before it have left. */
export const checks: readonly Check[] = [
  ...installationChecks,
  ...containmentChecks,
  ...handChecks,
  ...fleetChecks,
  ...faultChecks,
  ...lastFleetChecks,
  ...closingChecks,
];
