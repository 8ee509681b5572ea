import { busChecks } from './bus-checks.js';
import type { Check } from './check.js';
import { containmentChecks } from './containment-checks.js';
import { demoChecks } from './demo-checks.js';
import { faultChecks } from './fault-checks.js';
import { fleetChecks, lastFleetChecks } from './fleet-checks.js';
import { handChecks } from './hand-checks.js';
import { hostsChecks } from './hosts/hosts-checks.js';
import { closingChecks, installationChecks } from './installation-checks.js';
import { storeChecks } from './store-checks.js';

/** In their order: each finds what the ones before it have left, and goes without those that it does not need. */
export const checks: readonly Check[] = [
  ...installationChecks,
  ...containmentChecks,
  ...handChecks,
  ...fleetChecks,
  ...faultChecks,
  ...lastFleetChecks,
  ...closingChecks,
  ...storeChecks,
  ...busChecks,
  ...demoChecks,
  ...hostsChecks,
];

/**
 * Of `all` those of these names, in their order, and before each what it needs.
 * @param names none: all of them
 * @throws Error for a name that no check has
 */
export function selectChecks(all: readonly Check[], names: readonly string[]): readonly Check[] {
  if (names.length === 0) return all;
  const wanted = new Set<string>();
  const want = (name: string): void => {
    const found = all.find((check) => check.name === name);
    if (found === undefined)
      throw new Error(`there is no check "${name}"; there are ${all.map((check) => check.name).join(', ')}`);
    for (const needed of found.needs) want(needed);
    wanted.add(name);
  };
  for (const name of names) want(name);
  return all.filter(({ name }) => wanted.has(name));
}
