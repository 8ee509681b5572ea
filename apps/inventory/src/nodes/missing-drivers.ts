import type { NodeRecord, WorkerRecord } from '#contracts';
import { powerDrivers } from './node-rules.js';

/** Whether a live worker of the right kind offers a driver. */
export interface Offers {
  power(driver: string): boolean;
  provision(driver: string): boolean;
}

/** @param live workers that live as of now */
export function offersOf(live: readonly WorkerRecord[]): Offers {
  const of = (service: WorkerRecord['service']): Set<string> =>
    new Set(live.filter((w) => w.service === service).flatMap((w) => w.drivers));
  const [power, provision] = [of('fencer'), of('provisioner')];
  return { power: (driver) => power.has(driver), provision: (driver) => provision.has(driver) };
}

export interface MissingDriver {
  driver: string;
  /** Those that need it, by name. */
  nodes: string[];
}

/** Drivers that nodes need and nobody offers, by name. */
export function missingDrivers(nodes: readonly NodeRecord[], offers: Offers): MissingDriver[] {
  const missing = new Map<string, string[]>();
  for (const n of nodes)
    for (const driver of missingOf(n, offers)) {
      const names = missing.get(driver);
      if (names) names.push(n.name);
      else missing.set(driver, [n.name]);
    }
  return [...missing]
    .map(([driver, names]) => ({ driver, nodes: names.sort() }))
    .sort((a, b) => (a.driver < b.driver ? -1 : 1));
}

/** What the node needs and nobody offers. */
export function missingOf(n: NodeRecord, offers: Offers): string[] {
  const missing = powerDrivers(n).filter((d) => !offers.power(d));
  if (!offers.provision(n.provisionDriver)) missing.push(n.provisionDriver);
  return missing;
}
