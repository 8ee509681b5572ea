import type { StatusView, WorkerRecord } from '#contracts';
import type { Fleet } from '../../lab/src/fleet/fleet.js';

/**
 * Called before a service is ended: what it shows of itself by then. The answer says whether processes that were
 * started since do its work: with their own workers, verdicts of a later epoch, a conductor of a higher token. It
 * rejects while nobody answers.
 */
export async function servesAnew(fleet: Fleet, service: string): Promise<() => Promise<boolean>> {
  const status = (): Promise<StatusView> => fleet.api.get<StatusView>('/v1/status');
  switch (service) {
    case 'provisioner':
    case 'fencer': {
      const shown = async (): Promise<Map<string, string> | undefined> => {
        const workers = await incarnations(fleet, service);
        return workers.size > 0 ? workers : undefined;
      };
      const before = await fleet.until(`a live ${service}`, shown, 20_000);
      return async () => {
        const now = await incarnations(fleet, service);
        return [...before].every(([id, incarnation]) => now.has(id) && now.get(id) !== incarnation);
      };
    }
    case 'detector': {
      const before = (await status()).detector.epoch ?? 0;
      return async () => {
        const { sighted, instance, epoch = 0 } = (await status()).detector;
        return sighted && instance !== undefined && epoch > before;
      };
    }
    case 'inventory': {
      const before = conductorToken(await status());
      return async () => conductorToken(await status()) > before;
    }
    default:
      return () => status().then(() => true);
  }
}

/** By id, of the service's live workers. */
async function incarnations(fleet: Fleet, service: string): Promise<Map<string, string>> {
  const { items } = await fleet.api.get<{ items: WorkerRecord[] }>('/v1/workers');
  return new Map(items.filter((w) => w.service === service).map((w) => [w.id, w.incarnation]));
}

/** 0: nobody conducts. */
function conductorToken({ leases }: StatusView): number {
  const lease = leases.find((l) => l.name === 'conductor');
  return lease?.holder === undefined || lease.holder === '' ? 0 : lease.token;
}
