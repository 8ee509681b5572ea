import { Injectable } from '@nestjs/common';
import {
  completeSettings,
  defaultSettings,
  RESERVATIONS_KEY,
  SETTINGS_KEY,
  type AlarmRecord,
  type BucketName,
  type Clock,
  type ClusterSettings,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Permits,
  type Random,
  type Reservations,
  type WorkloadRecord,
} from '#contracts';
import {
  openMembers,
  readSecretsKey,
  sealMembers,
  singleServerLack,
  TokenMemory,
  WorkerRegistry,
  type Bus,
  type KvBucket,
  type KvView,
  type LeaseRecord,
  type WorkerView,
  readDisk,
} from '#bus';

/** A start waits so long for streams without a leader, ms: less than the minute that a unit gives it. */
const START_WAIT_MS = 45_000;

/** Below the gateway's own limits of a read, ms; on a cluster a watch waits for an election before it stands again. */
const GAP_WAIT_MS = { single: 1_000, cluster: 5_000 };

/** One bucket: `bucket` for writes and for reads that decide, `view` for everything that may be a moment old. */
export interface Table<T> {
  bucket: KvBucket<T>;
  view: KvView<T>;
}

/** Buckets of which every change is told to {@link InventoryStore.onChange}. */
const watchedTables = ['nodes', 'incidents', 'jobs', 'workloads', 'settings', 'admission'] as const;
export type ChangeSource = (typeof watchedTables)[number] | 'workers';

/** What inventory remembers. Writes go through the buckets, by compare-and-set; views follow within a millisecond or so. */
@Injectable()
export class InventoryStore {
  private constructor(
    readonly bus: Bus,
    readonly cluster: string,
    readonly nodes: Table<NodeRecord>,
    readonly incidents: Table<IncidentRecord>,
    readonly jobs: Table<JobRecord>,
    readonly workloads: Table<WorkloadRecord>,
    readonly alarms: Table<AlarmRecord>,
    readonly settings: Table<ClusterSettings>,
    /** Two keys of one bucket, each with its own type. */
    readonly reservations: Table<Reservations>,
    readonly permits: Table<Permits>,
    /** To show who holds what, never to decide who may: a gap in it is none of {@link live}. */
    readonly leases: Table<LeaseRecord>,
    readonly workers: WorkerView,
    /** Every inventory remembers, and not only the one that conducts. */
    readonly tokens: TokenMemory,
    /** Of the configuration. */
    private readonly secretsFile: string | undefined,
  ) {
    const keep = (): void => void (this.lastSettings = settings.view.get(SETTINGS_KEY)?.value ?? this.lastSettings);
    keep();
    settings.view.onChange(keep);
  }

  private lastSettings: ClusterSettings | undefined;
  /** Asked for many times a round, and changed once a month. */
  private completed: { of: ClusterSettings; settings: ClusterSettings } | undefined;
  private secretsKey: Buffer | undefined;

  /** Creates what is missing, then waits until every view has seen its whole bucket. */
  static async open(
    bus: Bus,
    o: { cluster: string; replicas: number; secretsFile?: string; store?: string },
  ): Promise<InventoryStore> {
    const { serverInfo } = bus;
    const lack = serverInfo && singleServerLack({ ...serverInfo, name: serverInfo.name ?? '' }, undefined);
    if (lack !== undefined) bus.log.warn({ server: serverInfo?.name }, lack);
    const disk = o.store === undefined ? undefined : await readDisk(o.store);
    await bus.createBuckets({ replicas: o.replicas, diskBytes: disk?.totalBytes, waitMs: START_WAIT_MS });
    const [nodes, incidents, jobs, workloads, alarms, settings, reservations, leases, workers] = await Promise.all([
      table<NodeRecord>(bus, 'nodes'),
      table<IncidentRecord>(bus, 'incidents'),
      table<JobRecord>(bus, 'jobs'),
      table<WorkloadRecord>(bus, 'workloads'),
      table<AlarmRecord>(bus, 'alarms'),
      table<ClusterSettings>(bus, 'settings'),
      table<Reservations>(bus, 'admission'),
      table<LeaseRecord>(bus, 'leases'),
      WorkerRegistry.watch(bus),
    ]);
    // The same watch serves both keys of the bucket: only the type differs.
    const permits: Table<Permits> = {
      bucket: bus.bucket<Permits>('admission'),
      view: reservations.view as unknown as KvView<Permits>,
    };
    return new InventoryStore(
      bus,
      o.cluster,
      nodes,
      incidents,
      jobs,
      workloads,
      alarms,
      settings,
      reservations,
      permits,
      leases,
      workers,
      TokenMemory.follow(bus, leases.view),
      o.secretsFile,
    );
  }

  /** With its secrets sealed, as it is stored; as it is where no key is configured. @throws MusterError CONFIG_INVALID */
  sealed<T>(value: T): T {
    return this.key === undefined ? value : sealMembers(this.key, value);
  }

  /** As it was before it was {@link sealed}. @throws MusterError CONFIG_INVALID */
  opened<T>(value: T): T {
    return openMembers(this.key, value);
  }

  private get key(): Buffer | undefined {
    if (this.secretsFile !== undefined) this.secretsKey ??= readSecretsKey(this.secretsFile);
    return this.secretsKey;
  }

  /** This process's own: the bus's. */
  get clock(): Clock {
    return this.bus.clock;
  }

  /** Never for a secret; see {@link Random}. */
  get random(): Random {
    return this.bus.random;
  }

  /**
   * Settings as last seen; the defaults until the first ones are written. Where they cannot be read: the last that
   * could, and nothing is powered off by them.
   */
  get clusterSettings(): ClusterSettings {
    const stored = this.settings.view.get(SETTINGS_KEY)?.value;
    if (stored !== undefined) return this.complete(stored);
    if (!this.settings.view.unreadable.has(SETTINGS_KEY)) return defaultSettings(this.cluster);
    const last = this.lastSettings ? completeSettings(this.lastSettings) : defaultSettings(this.cluster);
    return { ...last, fencing: { ...last.fencing, mode: 'observe' } };
  }

  private complete(stored: ClusterSettings): ClusterSettings {
    if (this.completed?.of !== stored) this.completed = { of: stored, settings: completeSettings(stored) };
    return this.completed.settings;
  }

  /** Reservations as last seen: to show, never to decide. */
  get held(): Reservations['held'] {
    return this.reservations.view.get(RESERVATIONS_KEY)?.value.held ?? {};
  }

  /** Every watch is connected: what the views say is true as of now. */
  get live(): boolean {
    return this.gap === undefined;
  }

  /** Why what the views say may not be all; undefined: it is. */
  get gap(): string | undefined {
    const { watchGap } = this;
    if (watchGap !== undefined) return watchGap;
    if (this.reservations.view.unreadable.has(RESERVATIONS_KEY)) return 'the reservations cannot be read';
    return undefined;
  }

  /** The same of the watches alone: what they showed last was true when it ended. */
  get watchGap(): string | undefined {
    const live = this.tables.every((t) => t.view.live) && !this.workers.stale;
    return live ? undefined : 'the view of the records has a gap';
  }

  /**
   * Resolves once every watch is connected, or after as long as a reader waits for that rather than be told what may be
   * old: replicas of inventory have their gaps at different times, and readers would be told now this, now that.
   * @param ms @default 1000 on a single server, 5000 on a cluster
   */
  async whenLive(ms = gapWaitMs(this.bus)): Promise<void> {
    await Promise.all([...this.tables.map((t) => t.view.shows(0, ms)), this.whenWorkersLive(ms)]);
  }

  private whenWorkersLive(ms: number): Promise<void> {
    if (!this.workers.stale) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        stop();
        resolve();
      };
      const timer = this.clock.after(ms, end);
      const stop = this.workers.onChange(() => void (!this.workers.stale && end()));
    });
  }

  /** Called on every change of a record of one of these buckets, or of a worker, with what it is a change of. */
  onChange(fn: (of: ChangeSource) => void): () => void {
    const stops = watchedTables.map((name) =>
      (name === 'admission' ? this.reservations : this[name]).view.onChange(() => fn(name)),
    );
    stops.push(this.workers.onChange(() => fn('workers')));
    return () => stops.forEach((stop) => stop());
  }

  async close(): Promise<void> {
    const views = [...this.tables, this.leases].map((t) => t.view.close());
    await Promise.all([...views, this.workers.close(), this.tokens.close()]);
  }

  private get tables(): Table<unknown>[] {
    return [
      this.nodes,
      this.incidents,
      this.jobs,
      this.workloads,
      this.alarms,
      this.settings,
      this.reservations,
    ] as Table<unknown>[];
  }
}

const gapWaitMs = ({ serverInfo }: Bus): number =>
  serverInfo?.cluster === undefined ? GAP_WAIT_MS.single : GAP_WAIT_MS.cluster;

const table = async <T>(bus: Bus, name: BucketName): Promise<Table<T>> => {
  const bucket = bus.bucket<T>(name);
  return { bucket, view: await bucket.view() };
};
