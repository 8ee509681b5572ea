import type { StatusView } from '#contracts';

/** Drivers by name: which live workers offer each, and which nodes wait for one that nobody offers. */
export function driversOf(status: Pick<StatusView, 'workers' | 'missingDrivers'>): {
  items: { driver: string; service: string; workers: string[] }[];
  missing: { driver: string; nodes: string[] }[];
} {
  const offers = new Map<string, { driver: string; service: string; workers: string[] }>();
  for (const worker of status.workers)
    for (const driver of worker.drivers) {
      const key = `${worker.service}\0${driver}`;
      const offer = offers.get(key) ?? { driver, service: worker.service, workers: [] };
      offer.workers.push(worker.id);
      offers.set(key, offer);
    }
  return {
    items: [...offers.values()].sort((a, b) => a.driver.localeCompare(b.driver)),
    missing: status.missingDrivers,
  };
}
