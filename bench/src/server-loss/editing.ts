import { setTimeout as pause } from 'node:timers/promises';
import { connectBus, credentialsFile, readCredentials, type Bus } from '#bus';
import { anyJson } from '#bus/testing/any-json.js';
import { whenClusterServes, type TestCluster } from '#bus/testing/nats-cluster.js';
import { MusterError, type BucketName } from '#contracts';
import { edit, lostEdits, type Edit } from './edits.js';

/** Each has a leader of its own. */
export const BUCKETS = ['nodes', 'workloads', 'incidents', 'settings'] as const satisfies readonly BucketName[];
/** Between two edits of a writer, ms. */
const PAUSE_MS = 150;
/** After that a writer goes on for no longer than this, ms, until something of its own is acknowledged. */
const LAST_MS = 60_000;
/** A server that was started again has caught up by then, ms. */
const WHOLE_MS = 120_000;

/** The connection of inventory to a cluster with users, whose buckets are there when this resolves. */
export async function editingBus(cluster: TestCluster): Promise<Bus> {
  const bus = await connectBus({
    name: 'server-loss',
    servers: cluster.urls,
    credentials: readCredentials(credentialsFile(cluster.dir, 'inventory')),
    // What is written here are no records of these buckets.
    codec: anyJson,
  });
  try {
    await whenClusterServes(() => bus.createBuckets({ replicas: 3, waitMs: WHOLE_MS }));
  } catch (e) {
    await bus.close();
    throw e;
  }
  return bus;
}

/** Every stream has a leader, and every copy is current. */
export const whole = (bus: Bus): Promise<void> =>
  whenClusterServes(async () => {
    const off = (await bus.streamFacts()).filter((s) => s.behind !== undefined || s.leaderless === true);
    if (off.length > 0) throw new MusterError('BUS_UNAVAILABLE', `not whole: ${off.map((s) => s.name).join(', ')}`);
  }, WHOLE_MS);

/** All that were made, also in rounds that do not count: none may be lost in any. */
export class Edits {
  readonly all: Edit[] = [];

  constructor(private readonly bus: Bus) {}

  /** One writer a bucket, until the end; then each goes on until one of its edits is acknowledged. */
  begin(): { end(): Promise<Edit[]> } {
    const made: Edit[] = [];
    let endBy = Infinity;
    const write = async (name: BucketName): Promise<void> => {
      const bucket = this.bus.bucket<object>(name);
      for (;;) {
        const key = `edit.${this.all.length}`;
        const create = (): Promise<number> => bucket.create(key, { key });
        // It has its place, and thereby its key, before another writer asks for one.
        const place = this.all.push({ bucket: name, key, beganMs: 0, endedMs: 0, refused: 'UNENDED' }) - 1;
        const done = await edit(name, key, create, () => performance.now());
        this.all[place] = done;
        made.push(done);
        if (endBy < Infinity && (done.revision !== undefined || done.endedMs > endBy)) return;
        await pause(PAUSE_MS);
      }
    };
    const writers = Promise.all(BUCKETS.map(write));
    return {
      end: async () => {
        endBy = performance.now() + LAST_MS;
        await writers;
        return made;
      },
    };
  }

  /** Those that were acknowledged and are not there. */
  async lost(): Promise<Edit[]> {
    const found = await Promise.all(
      BUCKETS.map(async (name) =>
        lostEdits(
          this.all.filter((e) => e.bucket === name),
          await whenClusterServes(() => this.bus.bucket(name).list()),
        ),
      ),
    );
    return found.flat();
  }
}
