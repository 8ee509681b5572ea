import type { Bus } from '#bus';
import { RESERVATIONS_KEY, type JobRecord, type NodeRecord, type NodeStatus, type Reservations } from '#contracts';

/** Records as read between two reads of the reservations: what must hold of them can be told exactly, also in full traffic. */
export interface ReservationsRead {
  before: Reservations;
  nodes: NodeRecord[];
  /** Records of the jobs that held nodes before, but were not pending; null: there is none. */
  jobs: Map<string, JobRecord | null>;
  after: Reservations;
}

const none: Reservations = { held: {}, pending: {}, generation: 0 };

export async function readReservations(bus: Bus, names: readonly string[]): Promise<ReservationsRead> {
  const reservations = bus.bucket<Reservations>('admission');
  const jobs = bus.bucket<JobRecord>('jobs');
  const before = (await reservations.get(RESERVATIONS_KEY))?.value ?? none;
  const holders = new Set(Object.values(before.held).flatMap((h) => h.job ?? []));
  const [nodes, records] = await Promise.all([
    Promise.all(names.map(async (n) => (await bus.bucket<NodeRecord>('nodes').get(n))?.value)),
    Promise.all(
      [...holders]
        .filter((id) => before.pending[id] === undefined)
        .map(async (id): Promise<[string, JobRecord | null]> => [id, (await jobs.get(id))?.value ?? null]),
    ),
  ]);
  const after = (await reservations.get(RESERVATIONS_KEY))?.value ?? none;
  return { before, nodes: nodes.filter((n) => n !== undefined), jobs: new Map(records), after };
}

const transient: readonly NodeStatus[] = ['Provisioning', 'Cancelled', 'Maintenance'];
const legal: Record<string, readonly NodeStatus[]> = {
  Incomplete: ['Unallocated'],
  Unallocated: ['Provisioning'],
  Decommissioned: ['Provisioning'],
  // The way back of a job that was called off before it began among them.
  Provisioning: ['Allocated', 'Unallocated', 'Decommissioned'],
  Allocated: ['Cancelled', 'Maintenance'],
  Cancelled: ['Decommissioned', 'Allocated'],
  Maintenance: ['Allocated', 'Unallocated'],
};

/** Every rule that does not hold, as a sentence. */
export function brokenRules(l: ReservationsRead): string[] {
  const broken: string[] = [];
  // No reservation was made in between: who is not held now was not held then either.
  const still = l.before.generation === l.after.generation;
  for (const n of l.nodes) {
    const held = l.before.held[n.name]?.job !== undefined || l.after.held[n.name]?.job !== undefined;
    if (still && !held && transient.includes(n.status)) broken.push(`${n.name} is ${n.status} without a job`);
    if (n.prevStatus !== n.status && !(legal[n.prevStatus] ?? []).includes(n.status))
      broken.push(`${n.name} went from ${n.prevStatus} to ${n.status}`);
  }
  for (const [node, { job }] of Object.entries(l.before.held)) {
    if (job === undefined || l.after.held[node]?.job !== job || l.before.pending[job]) continue;
    const record = l.jobs.get(job);
    if (!record) broken.push(`${node} is held by ${job}, which has no record and is not pending`);
    else if (record.settled) broken.push(`${node} is held by ${job}, which is settled`);
  }
  for (const r of [l.before, l.after])
    for (const job of Object.values(r.pending)) {
      const missing = job.nodes.filter((n) => r.held[n]?.job !== job.id);
      if (missing.length > 0) broken.push(`${job.id} was admitted without ${missing.join(' ')}`);
    }
  return broken;
}

/** Where every job that was admitted succeeds, will there be workers without a master? Only while all is heard. */
export function workersWithoutMaster(l: ReservationsRead): string | undefined {
  if (l.before.generation !== l.after.generation) return undefined;
  const groups = l.nodes.flatMap((n) => {
    const hold = l.before.held[n.name];
    const changes = hold?.kind === 'commission' || hold?.kind === 'maintenance';
    const leaves = hold?.kind === 'decommission' || (!changes && n.status !== 'Allocated');
    return leaves ? [] : [changes ? (hold.hostGroup ?? n.hostGroup) : n.hostGroup];
  });
  return groups.includes('service-worker') && !groups.includes('service-master')
    ? `${groups.length} workers and no master: ${JSON.stringify(l.before.held)}`
    : undefined;
}
