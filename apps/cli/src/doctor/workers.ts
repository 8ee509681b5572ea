import type { StatusView } from '#contracts';
import { bad, ok, warn, unknown, type Asked, type Finding } from './finding.js';

const SERVICES = ['fencer', 'provisioner'] as const;

/** What each live worker offers, and what nobody does. */
export function workerFindings(asked: Asked<Pick<StatusView, 'workers' | 'missingDrivers'>>): Finding[] {
  if ('failed' in asked) return [unknown('worker.drivers', 'workers', asked.failed, 'muster status')];
  const { workers, missingDrivers } = asked.value;
  const start = (service: string): string =>
    `start it: systemctl start muster-control-${service}, docker compose up -d ${service}, or npm start`;
  return [
    ...SERVICES.filter((service) => !workers.some((w) => w.service === service)).map((service) =>
      bad('worker.alive', service, `no ${service} is alive`, start(service)),
    ),
    ...workers.map(({ id, service, drivers, failing = [] }): Finding => {
      const log = `see the log of ${id}: what its driver needs is not installed there, or does not start`;
      if (drivers.length === 0) return bad('worker.drivers', id, `this ${service} offers no driver`, log);
      if (failing.length > 0)
        return warn('worker.drivers', id, `offers ${drivers.join(', ')}; failing now: ${failing.join(', ')}`, log);
      return ok('worker.drivers', id, `${service}, offers ${drivers.join(', ')}`);
    }),
    ...missingDrivers.map(({ driver, nodes }) =>
      bad(
        'worker.missing',
        driver,
        `nobody offers this driver, and ${nodes.length === 1 ? 'a node needs' : `${nodes.length} nodes need`} it: ${named(nodes)}`,
        'start a worker that offers it, or give its nodes another',
      ),
    ),
  ];
}

const named = (nodes: readonly string[]): string =>
  nodes.length <= 5 ? nodes.join(', ') : `${nodes.slice(0, 5).join(', ')} and ${nodes.length - 5} more`;
