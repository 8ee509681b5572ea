import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Lease, WorkerRegistry, type AnnouncedWorker, type KvView, type WorkerView } from '#bus';
import {
  isEndedJob,
  MusterError,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import { ServiceContext } from '#service';
import { RunFolder } from '../ansible/run-folder.js';
import { ansibleTrouble } from '../ansible/self-test.js';
import { chooseJobs } from './job-choice.js';
import { claimJob, refuseJob } from './job-store.js';
import { JobRun } from './job-run.js';

/** A claimed job whose lease cannot be had within this long belongs to somebody else, ms. */
const LEASE_WAIT_MS = 3_000;
/** Between two self-tests while Ansible does not work, ms. */
const SELF_TEST_MS = 15_000;
/** The look that follows no event, ms. */
const ROUND_MS = 1_000;

/** Watches the jobs, takes those that are due, and carries on with those whose worker is gone. */
@Injectable()
export class JobRunnerService implements OnApplicationBootstrap, OnApplicationShutdown {
  private jobs: KvView<JobRecord> | undefined;
  private nodes: KvView<NodeRecord> | undefined;
  private workers: WorkerView | undefined;
  private announced: AnnouncedWorker | undefined;
  private readonly runs = new Map<string, JobRun | undefined>();
  private readonly working = new Set<Promise<void>>();
  /** Ended by this worker, while the watch may still show them as they were. */
  private readonly finished = new Set<string>();
  private readonly seen = new Map<string, { what: string; at: number }>();
  /** Job → since when this process has seen it run, whoever ran it. */
  private readonly runningSince = new Map<string, number>();
  /** Highest conductor token on any job so far. */
  private conductor = 0;
  private ready = false;
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  private roundTimer: NodeJS.Timeout | undefined;
  private testTimer: NodeJS.Timeout | undefined;

  constructor(private readonly context: ServiceContext) {}

  private get me(): string {
    return this.context.config.instance;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { bus } = this.context;
    await RunFolder.removeAbandoned();
    this.announced = await WorkerRegistry.announce(bus, {
      service: 'provisioner',
      id: this.me,
      drivers: [],
      // Two processes under one name would each take the other's jobs for their own.
      onDisplaced: (by) => {
        this.letGo();
        this.context.log.fatal({ by }, `another provisioner runs as ${this.me}: this one ends`);
        process.kill(process.pid, 'SIGTERM');
      },
    });
    [this.jobs, this.nodes, this.workers] = await Promise.all([
      bus.bucket<JobRecord>('jobs').view(),
      bus.bucket<NodeRecord>('nodes').view(),
      WorkerRegistry.watch(bus),
    ]);
    this.jobs.onChange((id, job) => {
      if (job?.cancel !== undefined && job.status === 'Running') this.runs.get(id)?.cancel(job.cancel.by);
      this.look();
    });
    this.workers.onChange(() => this.look());
    this.roundTimer = setInterval(() => this.look(), ROUND_MS);
    await this.selfTest();
  }

  /** Jobs under way are left to others: their Ansible ends, their leases are given up, nothing is written. */
  async onApplicationShutdown(): Promise<void> {
    this.letGo();
    await Promise.all(this.working);
    const closing = [this.announced, this.jobs, this.nodes, this.workers].map(async (c) => c?.close());
    for (const closed of await Promise.allSettled(closing))
      if (closed.status === 'rejected')
        // Without NATS: others see by the missing heartbeat that this worker is gone.
        this.context.log.warn({ reason: MusterError.from(closed.reason).message }, 'not everything was closed');
  }

  private letGo(): void {
    this.stopping = true;
    clearInterval(this.roundTimer);
    clearTimeout(this.timer);
    clearTimeout(this.testTimer);
    for (const run of this.runs.values()) run?.abandon();
  }

  /** The driver is offered when, and as soon as, Ansible works here. */
  private async selfTest(): Promise<void> {
    const { bus, config } = this.context;
    const settings = (await bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY))?.value;
    const trouble = await ansibleTrouble(config.ansible, settings?.ansible ?? {});
    if (this.stopping) return;
    if (trouble === undefined) {
      this.ready = true;
      this.announced?.setDrivers(['ansible']);
      this.look();
      return;
    }
    this.context.log.error({ reason: trouble }, 'the driver ansible is not offered');
    this.testTimer = setTimeout(() => this.track(this.selfTest()), SELF_TEST_MS);
  }

  private track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.context.log.error({ err: error }, 'a job ended by an unexpected error'))
      .finally(() => this.working.delete(tracked));
    this.working.add(tracked);
  }

  private look(): void {
    if (!this.ready || this.stopping || this.jobs === undefined || !this.jobs.live) return;
    const open = this.jobs.entries().filter((e) => !isEndedJob(e.value));
    const now = performance.now();
    this.note(open, now);
    const jobs = open.filter((e) => !this.finished.has(e.key));
    const live = this.workers?.stale === false ? this.workers.live() : [];
    const choice = chooseJobs({
      jobs,
      me: this.me,
      live: live.filter((w) => w.service === 'provisioner' && w.drivers.includes('ansible')).map((w) => w.id),
      mine: new Set(this.runs.keys()),
      seenAt: new Map([...this.seen].map(([id, s]) => [id, s.at])),
      now,
      parallel: this.context.config.ansible.parallel,
    });
    for (const id of choice.take) this.begin(id, () => this.take(id));
    for (const id of choice.standby) this.begin(id, () => this.takeOver(id));
    clearTimeout(this.timer);
    if (choice.wakeIn !== undefined) this.timer = setTimeout(() => this.look(), choice.wakeIn);
  }

  /** Keeps for each open job since when it has been as it is. */
  private note(jobs: readonly { key: string; value: JobRecord }[], now: number): void {
    const open = new Set(jobs.map((j) => j.key));
    for (const id of this.seen.keys()) if (!open.has(id)) this.seen.delete(id);
    for (const id of this.runningSince.keys()) if (!open.has(id)) this.runningSince.delete(id);
    for (const id of this.finished) if (!open.has(id)) this.finished.delete(id);
    for (const { key, value } of jobs) {
      const what = `${value.status}.${value.generation}`;
      if (this.seen.get(key)?.what !== what) this.seen.set(key, { what, at: now });
      if (value.status === 'Running' && !this.runningSince.has(key)) this.runningSince.set(key, now);
      this.conductor = Math.max(this.conductor, value.conductor ?? 0);
    }
  }

  private begin(id: string, work: () => Promise<void>): void {
    this.runs.set(id, undefined);
    this.track(
      work().finally(() => {
        this.runs.delete(id);
        this.look();
      }),
    );
  }

  private async take(id: string): Promise<void> {
    const seen = this.jobs?.get(id)?.value;
    if (seen === undefined || seen.status !== 'Queued') return;
    const refusal = this.refusal(seen);
    if (refusal !== undefined) {
      const ended = await refuseJob(this.context.bus, id, refusal);
      if (ended === undefined) return;
      this.finished.add(id);
      await this.tell(ended, 'refused');
      await this.context.bus.endLog(id);
      return;
    }
    await this.carryOut(seen, new Lease(this.context.bus, { name: leaseName(id), holder: this.me }), LEASE_WAIT_MS);
  }

  /** Why a queued job must not be begun. */
  private refusal(job: JobRecord): string | undefined {
    if (job.cancel !== undefined) return `cancelled by ${job.cancel.by}`;
    if (job.conductor !== undefined && job.conductor < this.conductor)
      return `STALE_TOKEN: ordered by a conductor (${job.conductor}) that has been replaced (${this.conductor})`;
    return undefined;
  }

  /**
   * Contends for the lease of a job that runs elsewhere, for as long as it runs. The lease is had 1.25 × its time
   * after its last renewal was seen; the old worker's guard has killed everything at 0.85 × after that was sent.
   */
  private async takeOver(id: string): Promise<void> {
    const lease = new Lease(this.context.bus, { name: leaseName(id), holder: this.me });
    const ended = new AbortController();
    const check = (): void => {
      const job = this.jobs?.get(id)?.value;
      if (job === undefined || isEndedJob(job) || this.stopping) ended.abort();
    };
    const off = this.jobs?.onChange(check);
    const round = setInterval(check, ROUND_MS);
    lease.start();
    try {
      await Promise.race([lease.whenHeld(), aborted(ended.signal)]);
    } finally {
      off?.();
      clearInterval(round);
    }
    const job = this.jobs?.get(id)?.value;
    if (!lease.held || job === undefined || isEndedJob(job) || this.stopping) {
      // An ended job's lease is of no more use; one that was only lost again belongs to whoever has it now.
      await lease.stop({ forget: job === undefined || isEndedJob(job) });
      return;
    }
    this.context.log.warn({ job: id, was: job.worker, generation: job.generation }, 'taking over a job');
    await this.carryOut(job, lease, LEASE_WAIT_MS);
  }

  private async carryOut(seen: JobRecord, lease: Lease, waitMs: number): Promise<void> {
    const { bus, log, config } = this.context;
    let forget = false;
    try {
      const claimed = await claimJob(bus, seen, this.me);
      if (claimed === undefined) return;
      lease.start();
      const wait = new AbortController();
      const timer = setTimeout(() => wait.abort(), waitMs);
      await Promise.race([lease.whenHeld(), aborted(wait.signal)]).finally(() => clearTimeout(timer));
      lease.check();
      const ranMs = performance.now() - (this.runningSince.get(seen.id) ?? performance.now());
      const run = new JobRun({ bus, config, ...claimed, lease, nodes: () => this.seenNodes(), ranMs });
      this.runs.set(seen.id, run);
      if (this.stopping) run.abandon();
      // A cancel that came between the claim and now was seen by nobody.
      const now = this.jobs?.get(seen.id)?.value;
      if (now?.cancel !== undefined) run.cancel(now.cancel.by);
      lease.on((event) => {
        if (event === 'lost') run.abandon();
      });
      const told = this.tell(claimed.job, `running.${claimed.job.generation}`);
      await run.run();
      forget = true;
      this.finished.add(seen.id);
      await told;
      await bus.endLog(seen.id);
    } catch (error) {
      const failure = MusterError.from(error);
      const over = ['STALE_TOKEN', 'LEASE_LOST', 'BUS_UNAVAILABLE', 'TIMEOUT'].includes(failure.code);
      if (!over) throw error;
      log.warn({ job: seen.id, reason: failure.message }, 'let go of a job');
    } finally {
      await lease.stop({ forget });
    }
  }

  private seenNodes(): NodeRecord[] | undefined {
    return this.nodes?.live === true ? this.nodes.entries().map((e) => e.value) : undefined;
  }

  private tell(job: JobRecord, step: string): Promise<void> {
    const { id, kind, status, nodes, task, error } = job;
    return this.context.bus.emit('job', id, { job: id, kind, status, nodes, task, error }, { id: `job.${id}.${step}` });
  }
}

const leaseName = (job: string): string => `job.${job}`;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
