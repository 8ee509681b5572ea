import type { Fleet } from '../../lab/src/fleet/fleet.js';
import { agentStatus } from './watch.js';

/** Host → how often its agent has stood still since its start; of the same process only two of them can be compared. */
export type Standstills = ReadonlyMap<string, { epoch: number; count: number }>;

/** Hosts whose agent does not answer are left out. */
export async function standstills(fleet: Fleet): Promise<Standstills> {
  const told = await Promise.allSettled(
    fleet.info.hosts.map(async ({ name }) => ({ name, status: await agentStatus(fleet, name) })),
  );
  return new Map(
    told.flatMap((t) =>
      t.status === 'fulfilled'
        ? [[t.value.name, { epoch: t.value.status.epoch, count: t.value.status.health.metrics?.standstills ?? 0 }]]
        : [],
    ),
  );
}

/** Hosts whose agents stood still in between: they abstained, for this machine had no time for them. */
export const starved = (before: Standstills, after: Standstills): string[] =>
  [...after].flatMap(([host, now]) => {
    const was = before.get(host);
    return was !== undefined && was.epoch === now.epoch && now.count > was.count ? [host] : [];
  });
