import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  isBucket,
  isSettledJob,
  MusterError,
  type BucketName,
  type JobRecord,
  type UnreadableRecord,
} from '#contracts';
import type { Watch } from '#bus';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import { ConductorService } from '../conductor/conductor.service.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { inParallel } from '../store/in-parallel.js';
import { StartFactsService } from '../reports/start-facts.js';
import { InventoryStore, type Table } from '../store/inventory-store.js';
import { recordAlarms, refusedDeletion } from './record-rules.js';

/** Buckets that nothing else in inventory follows. */
const FOLLOWED: readonly BucketName[] = ['secrets', 'tokens', 'idempotency'];

/**
 * Records that no program can read: an alarm for each, and the way to be rid of them. And records as an earlier version
 * has stored them: secrets in clear are sealed, as those of an inventory without a key, and incidents are migrated.
 */
@Injectable()
export class RecordsService implements Reconciler, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly watches: Watch[] = [];
  private readonly known: AgeBook;
  private stop: (() => void) | undefined;
  /** Token of the term in which all that stood in clear was sealed. */
  private sealedIn: number | undefined;
  /** Token of the term in which every incident was found in the newest schema, or stored in it. */
  private migratedIn: number | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    conductor: ConductorService,
    private readonly nodes: StartFactsService,
  ) {
    this.known = new AgeBook(store.clock);
    this.stop = store.bus.unreadable.onChange(() => conductor.wake('unreadable-records'));
  }

  onApplicationBootstrap(): void {
    for (const bucket of FOLLOWED)
      this.watches.push(this.store.bus.bucket(bucket).watch({ onChange: () => undefined }));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stop?.();
    await Promise.all(this.watches.map((w) => w.close()));
  }

  async reconcile(c: TaskRun): Promise<void> {
    const records = this.list();
    await keepAlarms(this.alarms, ['record-unreadable'], recordAlarms(records), () => void c.check());
    await this.migrateIncidents(c);
    // Nor is more sealed by a key that is not the store's.
    if (!records.some((r) => r.sealed)) await this.sealClear(c);
  }

  /**
   * A fencer of a version before power records switches on what such a record says, and asks nobody: what it cannot read
   * it leaves alone. Where it has just written one, the next run comes back to it.
   */
  private async migrateIncidents(c: TaskRun): Promise<void> {
    const { bucket, view } = this.store.incidents;
    if (this.migratedIn === c.token || !view.live) return;
    const left = new Set(view.entries().map((e) => e.key));
    await inParallel([...left], (node) =>
      c.isolated({ node }, async () => void ((await bucket.migrateStored(node)) && left.delete(node))),
    );
    if (left.size === 0) this.migratedIn = c.token;
  }

  /** Whoever writes a record seals it: once in each term is enough. */
  private async sealClear(c: TaskRun): Promise<void> {
    const { nodes, workloads, jobs } = this.store;
    if (this.sealedIn === c.token || [nodes, workloads, jobs].some((t) => !t.view.live)) return;
    for (const { bucket, view } of [nodes, workloads, jobs] as Table<unknown>[])
      for (const entry of view.entries()) {
        // A job that is under way is its worker's to write.
        if (bucket.name === 'jobs' && !isSettledJob(entry.value as JobRecord)) continue;
        c.check();
        await bucket.sealStored(entry);
      }
    this.sealedIn = c.token;
  }

  /** As last seen by this process. */
  list(): UnreadableRecord[] {
    const records = this.store.bus.unreadable.list();
    this.known.keep(records.map(ageKey));
    return records;
  }

  /**
   * @param o force: also the incident of a node that is silent
   * @throws RECORD_UNKNOWN where no such record is known as unreadable; ILLEGAL_TRANSITION
   */
  async delete(bucket: string, key: string, o: { force?: boolean } = {}): Promise<void> {
    const found = isBucket(bucket) ? await this.find(bucket, key) : undefined;
    if (found === undefined)
      throw new MusterError(
        'RECORD_UNKNOWN',
        `no record ${bucket}/${key} is known that cannot be read; what can be read is deleted by its own command`,
        { bucket, key },
      );
    const refused = refusedDeletion(found, {
      jobs: this.store.jobs.view.entries().map((e) => e.value),
      fencing: this.store.clusterSettings.fencing,
      now: this.store.clock.wallMs(),
      knownMs: this.known.see(ageKey(found)),
      speaks: (node) => this.nodes.of(node) !== undefined,
      force: o.force === true,
    });
    if (refused) throw refused;
    await this.store.bus.bucket(found.bucket).discard(found);
  }

  private async find(bucket: BucketName, key: string): Promise<UnreadableRecord | undefined> {
    const known = this.list().find((r) => r.bucket === bucket && r.key === key);
    if (known?.foreign === true) return known;
    try {
      const found = await this.store.bus.bucket(bucket).read(key);
      return found !== undefined && 'why' in found ? found : undefined;
    } catch (e) {
      if (MusterError.from(e).code === 'BAD_REQUEST') return undefined;
      throw e;
    }
  }
}

const ageKey = (r: UnreadableRecord): string => `${r.bucket}/${r.key}/${r.revision}`;
