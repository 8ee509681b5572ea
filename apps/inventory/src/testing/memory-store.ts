import type { AgentConnection, Entry, RevocationReach } from '#bus';
import {
  defaultSettings,
  MusterError,
  RESERVATIONS_KEY,
  type AlarmRecord,
  type ClusterSettings,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Permits,
  type Reservations,
  type TaskView,
  type WorkerRecord,
  type WorkloadRecord,
} from '#contracts';
import type { ServiceContext } from '#service';
import type { ConductorService } from '../conductor/conductor.service.js';
import type { IdentityReads } from '../identity/identity-reads.js';
import type { DegradedStep } from '../nodes/degraded-policy.js';
import { ReportsView } from '../reports/reports-view.js';
import { DetectorView } from '../verdicts/detector-view.js';
import type { InventoryStore } from '../store/inventory-store.js';

/** One bucket in memory, with a view that follows at once. */
export class MemoryTable<T> {
  private readonly all = new Map<string, Entry<T>>();
  private readonly listeners = new Set<(key: string, value: T | undefined) => void>();
  private list: readonly Entry<T>[] | undefined;
  live = true;
  readonly unreadable = new Map<string, never>();
  /** Resolves when the view shows this revision: it follows at once. */
  shows: (revision: number) => Promise<boolean> = async () => Promise.resolve(true);

  /** @param next the revision of the next write, over all tables */
  constructor(private readonly next: () => number) {}

  readonly view = this.asView();
  readonly bucket = {
    get: async (key: string) => Promise.resolve(this.all.get(key)),
    read: async (key: string) => Promise.resolve(this.all.get(key)),
    list: async () => Promise.resolve([...this.all.values()]),
    create: async (key: string, value: T) => {
      if (this.all.has(key)) throw new MusterError('REVISION_CONFLICT', `${key} exists`);
      return Promise.resolve(this.set(key, value));
    },
    update: async (key: string, value: T, revision: number) => {
      if (this.all.get(key)?.revision !== revision)
        throw new MusterError('REVISION_CONFLICT', `${key} is not at ${revision}`);
      return Promise.resolve(this.set(key, value));
    },
    delete: async (key: string, revision?: number) => {
      if (revision !== undefined && this.all.get(key)?.revision !== revision)
        throw new MusterError('REVISION_CONFLICT', `${key} is not at ${revision}`);
      return Promise.resolve(this.set(key, undefined));
    },
    mutate: async (key: string, fn: (current: Entry<T> | undefined) => T | undefined | Promise<T | undefined>) => {
      let current: Entry<T> | undefined;
      let value: T | undefined;
      do {
        current = this.all.get(key);
        value = await fn(current);
        // Another has written it meanwhile: as by every compare-and-set, it is decided again.
      } while (value !== undefined && this.all.get(key)?.revision !== current?.revision);
      const isSame = value === undefined || JSON.stringify(value) === JSON.stringify(current?.value);
      if (isSame) return { value: current?.value, revision: current?.revision ?? 0, changed: false };
      return { value, revision: this.set(key, value), changed: true };
    },
    lastRevision: async (): Promise<number> =>
      Promise.resolve(Math.max(0, ...[...this.all.values()].map((e) => e.revision))),
  };

  /** What stands there now, by key. */
  get content(): Record<string, T> {
    return Object.fromEntries([...this.all].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, e]) => [key, e.value]));
  }

  /** @returns the new revision */
  set(key: string, value: T | undefined): number {
    const revision = this.next();
    if (value === undefined) this.all.delete(key);
    else this.all.set(key, { key, value, revision });
    this.list = undefined;
    for (const listener of this.listeners) listener(key, value);
    return revision;
  }

  private asView(): object {
    const table = (): MemoryTable<T> => this;
    return {
      get live() {
        return table().live;
      },
      unreadable: this.unreadable,
      get: (key: string) => this.all.get(key),
      entries: () => (this.list ??= [...this.all.values()]),
      shows: async (revision: number) => this.shows(revision),
      onChange: (fn: (key: string, value: T | undefined) => void) => {
        this.listeners.add(fn);
        return () => this.listeners.delete(fn);
      },
    };
  }
}

const worker = (service: WorkerRecord['service'], driver: string): WorkerRecord => ({
  ...{ service, id: `${service}-1`, drivers: [driver], incarnation: 'i', host: 'h', startedAt: 0, beat: 1 },
});
const allWorkers = [worker('fencer', 'ipmitool'), worker('provisioner', 'ansible')];

/** What was heard of a detector, or one that is heard all the time and sees the fleet. */
class PlayedDetector extends DetectorView {
  sees = false;

  override get fresh(): boolean {
    return this.sees || super.fresh;
  }

  override get sighted(): boolean {
    return this.sees || super.sighted;
  }
}

/** The store of an inventory in memory, for specs of what decides and writes: nobody else writes, and time stands still. */
export class MemoryStore {
  private revision = 0;
  private readonly next = (): number => (this.revision += 1);
  readonly nodes = new MemoryTable<NodeRecord>(this.next);
  readonly incidents = new MemoryTable<IncidentRecord>(this.next);
  readonly jobs = new MemoryTable<JobRecord>(this.next);
  readonly workloads = new MemoryTable<WorkloadRecord>(this.next);
  readonly alarms = new MemoryTable<AlarmRecord>(this.next);
  readonly reservations = new MemoryTable<Reservations>(this.next);
  readonly leases = new MemoryTable<object>(this.next);
  readonly permits = new MemoryTable<Permits>(this.next);
  readonly settings = new MemoryTable<ClusterSettings>(this.next);
  readonly secrets = new MemoryTable<object>(this.next);
  readonly clock = {
    now: 0,
    monotonicMs: (): number => this.clock.now,
    wallMs: (): number => 1_000_000 + this.clock.now,
  };
  /** What agents have said, by `hear`. */
  readonly reports = new ReportsView({ clock: this.clock } as unknown as ServiceContext);
  /** Its conductor's tasks of which something fails. */
  failing: TaskView[] = [];
  readonly conductor = { failingTasks: () => this.failing } as unknown as ConductorService;
  /** What the detector has said, by `hear`. */
  readonly detector = new PlayedDetector({ clock: this.clock } as unknown as ServiceContext);
  /** Who offers drivers; `stale`: nobody knows. */
  readonly workers = { stale: false, all: allWorkers, live: (): WorkerRecord[] => this.workers.all };
  /** What the policy has done about nodes that stay DEGRADED. */
  degraded: ReadonlyMap<string, DegradedStep> = new Map();
  /** What names stand for. */
  readonly names = new Map<string, readonly string[]>();
  /** Nobody is suspect here. */
  readonly identity = { reads: () => new Map() } as unknown as IdentityReads;
  readonly random = { uuid: (): string => `id-${this.next()}`, number: () => 0.5 };
  /** Its own: a spec may change it. */
  readonly clusterSettings = structuredClone(defaultSettings('spec'));
  /** Agents at NATS, and the keys that it was told to refuse, call by call. */
  readonly natsUsers = {
    able: true,
    agents: [] as AgentConnection[],
    refused: [] as string[][],
    connected: async (): Promise<AgentConnection[]> => Promise.resolve(this.natsUsers.agents),
    revoke: async (keys: readonly string[]): Promise<RevocationReach> => {
      this.natsUsers.refused.push([...keys]);
      return Promise.resolve({ servers: 1, told: 1 });
    },
  };
  /** Kinds of what was told, in their order. */
  readonly told: string[] = [];
  /** What was logged above debug. */
  readonly logged: string[] = [];
  /** What the detector answers who asks for a node; of others it says nothing. */
  readonly verdicts = new Map<string, unknown>();
  events: object = { bytes: 0, messages: 0, verdicts: new Map() };
  readonly bus = {
    log: {
      debug: () => undefined,
      info: (_facts: object, message: string) => void this.logged.push(message),
      warn: (_facts: object, message: string) => void this.logged.push(message),
      error: (_facts: object, message: string) => void this.logged.push(message),
    },
    emit: async (kind: string, key: string) => Promise.resolve(void this.told.push(`${kind} ${key}`)),
    bucket: (name: string) => ({ secrets: this.secrets, settings: this.settings })[name]?.bucket ?? this.leases.bucket,
    ask: async (_subject: string, { node }: { node: string }) => {
      this.told.push(`asked for ${node}`);
      if (!this.verdicts.has(node)) throw new MusterError('TIMEOUT', 'no answer');
      return Promise.resolve(this.verdicts.get(node));
    },
    eventStorage: async () => Promise.resolve(this.events),
    keepVerdicts: async (node: string, keep: number) => Promise.resolve(void this.told.push(`keep ${node} ${keep}`)),
  };

  get gap(): string | undefined {
    return this.live ? undefined : 'the view of the records has a gap';
  }

  get live(): boolean {
    const { nodes, incidents, jobs, workloads, alarms, reservations } = this;
    return [nodes, incidents, jobs, workloads, alarms, reservations].every((t) => t.live);
  }

  get held(): Reservations['held'] {
    return this.reservations.content[RESERVATIONS_KEY]?.held ?? {};
  }

  /** As what is given a store is given one: it asks for no more than stands here. */
  get asStore(): InventoryStore {
    return this as unknown as InventoryStore;
  }
}
