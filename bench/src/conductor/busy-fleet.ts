import { performance } from 'node:perf_hooks';
import { WorkerRegistry, type Bus, type Closable, type KvView, type LeaseRecord } from '#bus';
import {
  MusterError,
  Subjects,
  type BucketName,
  type NodeRecord,
  type StatusView,
  type TaskView,
  type WorkloadRecord,
} from '#contracts';
import { Api } from '../../../lab/src/fleet/api.js';
import { until } from '../../../lab/src/until.js';
import { ManyFleet } from '../detect/many-fleet.js';
import { allocated, PER_NODE, runningOn, workloadsOf } from './busy-records.js';
import { unsettled } from './settled.js';

const LEASE = 'conductor';
/** Only its change may change what a task decides. */
const RECORDS: readonly BucketName[] = ['nodes', 'incidents', 'jobs', 'workloads', 'admission', 'settings'];
/** Nodes that are written at once, each with its workloads. */
const AT_ONCE = 8;
/** A fleet is settled where no record has changed for so long, ms. */
const QUIET_MS = 5_000;
const SETTLE_MS = 300_000;
const START_MS = 180_000;
const LOOK_MS = 1_000;
const ANSWER_MS = 5_000;

/** Another process holds the lease. */
export interface NewHolder {
  holder: string;
  /** Monotonic ms at which its record was seen. */
  at: number;
}

/**
 * A fleet in which nothing happens: simulated nodes that report what runs on them, all in service, each with ten
 * workloads that run where they are assigned. Two inventories, of which one conducts.
 */
export class BusyFleet {
  private written = 0;
  private writtenAt = performance.now();

  private constructor(
    private readonly many: ManyFleet,
    private readonly bus: Bus,
    private readonly leases: KvView<LeaseRecord>,
    private readonly views: readonly Closable[],
  ) {}

  /** Resolves when all of it is settled. */
  static async start(nodes: number, say: (line: string) => void): Promise<BusyFleet> {
    const services = ['inventory', 'inventory', 'detector', 'gateway'] as const;
    const many = await ManyFleet.start(nodes, { services, runs: runningOn, metrics: true });
    try {
      say(`${nodes} simulated nodes are UP`);
      const { plane } = many;
      // Nobody is to be powered off: it is enough that somebody could.
      const fencer = { service: 'fencer' as const, id: 'bench', drivers: ['ipmitool'] };
      const worker = await WorkerRegistry.announce(await plane.bus('fencer'), fencer);
      const bus = await plane.bus('inventory');
      const leases = await bus.bucket<LeaseRecord>('leases').view();
      const records = await Promise.all(RECORDS.map((b) => bus.bucket(b).view()));
      const fleet = new BusyFleet(many, bus, leases, [worker, leases, ...records]);
      for (const view of records) view.onChange(() => fleet.noteWrite());
      await fleet.fill();
      say(`${nodes * PER_NODE} workloads are on record`);
      await fleet.settled();
      return fleet;
    } catch (e) {
      await many.stop();
      throw e;
    }
  }

  /** Instance of inventory that holds the lease. */
  get conductor(): string {
    return this.leases.get(LEASE)?.value.holder ?? '';
  }

  /** The other one. */
  get standby(): string {
    return this.conductor === 'inventory-0' ? 'inventory-1' : 'inventory-0';
  }

  /** How often a record has changed so far. */
  get writes(): number {
    return this.written;
  }

  /** ms of a core in a second, of each process. */
  async cpuMsPerSecond(seconds: number): Promise<Map<string, number>> {
    return new Map([...(await this.many.cpu(seconds))].map(([name, share]) => [name, share * 1000]));
  }

  /** The longest that the loop of a process has stood still since it was last asked this, ms. */
  async longestTurnMs(process: string): Promise<number> {
    return Number(figure(await this.many.plane.metricsOf(process), 'nodejs_eventloop_lag_max_seconds')) * 1000;
  }

  /** Resolves when nothing is to be done any more, and both inventories could conduct. TIMEOUT says what is not settled. */
  async settled(): Promise<void> {
    const { length } = this.many.nodes;
    await until(
      'the fleet to be settled',
      SETTLE_MS,
      async () => {
        const why = unsettled(await this.status(), { nodes: length, workloads: length * PER_NODE });
        if (why.length > 0) throw new MusterError('COMMAND_FAILED', why.slice(0, 5).join('; '));
        const quietMs = performance.now() - this.writtenAt;
        if (quietMs < QUIET_MS)
          throw new MusterError('COMMAND_FAILED', `a record has changed ${quietMs.toFixed(0)} ms ago`);
        return true;
      },
      LOOK_MS,
    );
  }

  async status(): Promise<StatusView> {
    return new Api(this.many.plane.api).request<StatusView>('GET', '/v1/status', undefined, START_MS);
  }

  /** How the tasks of the conductor go; rejects while there is none. */
  tasks(): Promise<TaskView[]> {
    return this.bus.ask<TaskView[]>(Subjects.tasks(), {}, { timeoutMs: ANSWER_MS });
  }

  /** `kill -9` of an inventory. */
  kill(inventory: string): Promise<void> {
    return this.many.plane.kill(inventory);
  }

  /** Resolves when it has all records and contends for the lease. */
  async startAgain(inventory: string): Promise<void> {
    const { plane } = this.many;
    plane.startAgain(inventory);
    await until(`${inventory} to contend for the lease`, START_MS, async () => {
      const told = await plane.metricsOf(inventory);
      return figure(told, `muster_lease_held{name="${LEASE}"}`) === undefined ? undefined : true;
    });
  }

  /** The next one that conducts. TIMEOUT where nobody does. */
  successorOf(before: string, limitMs: number): Promise<NewHolder> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const holder = this.conductor;
        if (holder === before || holder === '') return;
        end();
        resolve({ holder, at: performance.now() });
      };
      const stop = this.leases.onChange(look);
      const timer = setTimeout(() => {
        end();
        reject(new MusterError('TIMEOUT', `nobody took the lease over from ${before} in ${limitMs / 1000} s`));
      }, limitMs);
      const end = (): void => {
        clearTimeout(timer);
        stop();
      };
    });
  }

  /** What has died, with its last words; empty: nothing. */
  dead(): string {
    return this.many.plane.dead();
  }

  async stop(): Promise<void> {
    for (const view of this.views) await view.close();
    await this.many.stop();
  }

  private noteWrite(): void {
    this.written += 1;
    this.writtenAt = performance.now();
  }

  /** Straight into the store, since set up and started by jobs it would take hours. */
  private async fill(): Promise<void> {
    const nodes = this.bus.bucket<NodeRecord>('nodes');
    const workloads = this.bus.bucket<WorkloadRecord>('workloads');
    const at = Date.now();
    const fillOne = async (name: string, nth: number): Promise<void> => {
      // One that is set up before inventory has noted that it is heard comes to it out of nowhere, and is checked.
      await until(`${name} to be heard`, START_MS, async () => {
        const heard = (await nodes.get(name))?.value;
        return heard?.bootId !== undefined && heard.verdict !== undefined ? true : undefined;
      });
      const { value } = await nodes.mutate(name, (n) => n && allocated(n.value, nth, at));
      if (value === undefined) throw new MusterError('NODE_UNKNOWN', `${name} is gone`);
      await Promise.all(workloadsOf(value).map((w) => workloads.create(w.name, w, { timeoutMs: START_MS })));
    };
    const names = this.many.nodes.map((n) => n.name);
    for (let i = 0; i < names.length; i += AT_ONCE)
      await Promise.all(names.slice(i, i + AT_ONCE).map((name, j) => fillOne(name, i + j)));
  }
}

/** The value of a series in what Prometheus reads. */
function figure(text: string, series: string): string | undefined {
  const line = text.split('\n').find((l) => l.startsWith(`${series} `));
  return line?.slice(series.length + 1);
}
