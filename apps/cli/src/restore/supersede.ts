import {
  completeSettings,
  RESERVATIONS_KEY,
  SETTINGS_KEY,
  type ClusterSettings,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import type { Bus, KvBucket } from '#bus';
import {
  pausedFor,
  supersededIncident,
  supersededJob,
  supersededNode,
  withoutClaims,
  type Superseded,
} from '#domain/restore/superseded.js';

/** What was ended, by name or id. */
export interface Ended {
  incidents: string[];
  jobs: string[];
  claims: string[];
}

/**
 * A store of an earlier moment, before any service sees it: fencing is paused until a person ends that, and nothing that
 * was under way goes on. The pause is first: who ends this half-way has it all the same. May be repeated.
 * @throws MusterError as a write of a bucket
 */
export async function supersede(bus: Bus, by: Superseded): Promise<Ended> {
  const settings = bus.bucket<ClusterSettings>('settings');
  if (await isReadable(settings, SETTINGS_KEY))
    await settings.mutate(SETTINGS_KEY, (now) => {
      if (now === undefined) return undefined;
      const was = completeSettings(now.value);
      return { ...was, fencing: pausedFor(was.fencing, by) };
    });
  const reservations = bus.bucket<Reservations>('admission');
  const isHeld = !(await isReadable(reservations, RESERVATIONS_KEY));
  const pending = isHeld ? {} : ((await reservations.get(RESERVATIONS_KEY))?.value.pending ?? {});
  return {
    incidents: await incidents(bus, by),
    jobs: await jobs(bus, pending, by),
    claims: isHeld ? [] : await claims(reservations),
  };
}

/** What nobody can read stops by itself: such settings let nothing be powered off, such reservations hold every node. */
async function isReadable<T>(bucket: KvBucket<T>, key: string): Promise<boolean> {
  const found = await bucket.read(key);
  return found === undefined || 'value' in found;
}

async function incidents(bus: Bus, by: Superseded): Promise<string[]> {
  const bucket = bus.bucket<IncidentRecord>('incidents');
  const ended: string[] = [];
  for (const { key, value } of await bucket.list()) {
    if (value.unreadable !== undefined || supersededIncident(value, by) === undefined) continue;
    // The node first: cut off in between, the incident still says that its proof is to be void.
    await bus.bucket<NodeRecord>('nodes').mutate(key, (now) => now && supersededNode(now.value, value.id, by));
    await bucket.mutate(key, (now) => now && supersededIncident(now.value, by));
    ended.push(key);
  }
  return ended.sort();
}

/** Those as well whose records had not followed yet. */
async function jobs(bus: Bus, pending: Reservations['pending'], by: Superseded): Promise<string[]> {
  const bucket = bus.bucket<JobRecord>('jobs');
  const ended: string[] = [];
  for (const id of new Set([...Object.keys(pending), ...(await bucket.list()).map((e) => e.key)])) {
    const { changed } = await bucket.mutate(id, (now) => {
      const job = now?.value ?? pending[id];
      return job && supersededJob(job, by);
    });
    if (changed) ended.push(id);
  }
  return ended.sort();
}

async function claims(reservations: KvBucket<Reservations>): Promise<string[]> {
  let ids: string[] = [];
  await reservations.mutate(RESERVATIONS_KEY, (now) => {
    ids = Object.keys(now?.value.claims ?? {}).sort();
    return now && withoutClaims(now.value);
  });
  return ids;
}
