import { Lease, WorkerRegistry, type AnnouncedWorker, type Bus, type BusLog, type KvView, type WorkerView } from '#bus';
import {
  isEndedJob,
  MusterError,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeRecord,
  type Timer,
} from '#contracts';
import type { AnsibleHost } from '../ansible/ansible-host.js';
import { chooseJobs } from './job-choice.js';
import { claimJob, refuseJob, type JobRefusal } from './job-store.js';
import { JobRun, type JobRunConfig } from './job-run.js';

/** A claimed job whose lease cannot be had within this long belongs to somebody else, ms. */
const LEASE_WAIT_MS = 3_000;
/** Between two self-tests while Ansible does not work, ms. */
const SELF_TEST_MS = 15_000;
/** The look that follows no event, ms. */
const ROUND_MS = 1_000;

export interface JobRunnerParts {
  bus: Bus;
  config: JobRunConfig & { instance: string };
  log: BusLog;
  /** Name of the machine that this process runs on. */
  host: string;
  ansible: AnsibleHost;
  /** Another process has taken this one's name over; it has let go of its jobs, and must end. */
  displaced: (by: string) => void;
}

/**
 * What a provisioner does by itself: it watches the jobs, takes those that are due, and carries on with those whose
 * worker is gone.
 */
export class JobRunner {
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
  private timer: Timer | undefined;
  private roundTimer: Timer | undefined;
  private testTimer: Timer | undefined;

  constructor(private readonly parts: JobRunnerParts) {}

  private get me(): string {
    return this.parts.config.instance;
  }

  /** Resolves after the first self-test. @throws ALREADY_EXISTS where another live process has its name */
  async start(): Promise<void> {
    const { bus, host, ansible } = this.parts;
    await ansible.removeAbandoned();
    this.announced = await WorkerRegistry.announce(bus, {
      service: 'provisioner',
      id: this.me,
      drivers: [],
      host,
      // Two processes under one name would each take the other's jobs for their own.
      onDisplaced: (by) => {
        this.letGo();
        this.parts.displaced(by);
      },
    });
    [this.jobs, this.nodes, this.workers] = await Promise.all([
      bus.bucket<JobRecord>('jobs').view(),
      bus.bucket<NodeRecord>('nodes').view(),
      WorkerRegistry.watch(bus),
    ]);
    this.jobs.onChange((id, job) => {
      if (job?.cancel !== undefined && job.status === 'Running') this.runs.get(id)?.cancel(job.cancel.by);
      this.chooseNext();
    });
    this.workers.onChange(() => this.chooseNext());
    this.roundTimer = bus.clock.every(ROUND_MS, () => this.chooseNext());
    await this.selfTest();
  }

  /** Jobs under way are left to others: their Ansible ends, their leases are given up, nothing is written. */
  async stop(): Promise<void> {
    this.letGo();
    await Promise.all(this.working);
    const closing = [this.announced, this.jobs, this.nodes, this.workers].map(async (c) => c?.close());
    for (const closed of await Promise.allSettled(closing))
      if (closed.status === 'rejected')
        // Without NATS: others see by the missing heartbeat that this worker is gone.
        this.parts.log.warn({ reason: MusterError.from(closed.reason).message }, 'not everything was closed');
  }

  private letGo(): void {
    this.stopping = true;
    this.roundTimer?.cancel();
    this.timer?.cancel();
    this.testTimer?.cancel();
    for (const run of this.runs.values()) run?.abandon();
  }

  /** The driver is offered when, and as soon as, Ansible works here. */
  private async selfTest(): Promise<void> {
    const { bus, config, ansible } = this.parts;
    const settings = (await bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY))?.value;
    const whyUnfit = await ansible.whyUnfit(config.ansible, settings?.ansible ?? {});
    if (this.stopping) return;
    if (whyUnfit === undefined) {
      this.ready = true;
      this.announced?.setDrivers(['ansible']);
      this.chooseNext();
      return;
    }
    this.parts.log.error({ reason: whyUnfit }, 'the driver ansible is not offered');
    this.testTimer = bus.clock.after(SELF_TEST_MS, () => this.track(this.selfTest()));
  }

  private track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.parts.log.error({ err: error }, 'a job ended by an unexpected error'))
      .finally(() => this.working.delete(tracked));
    this.working.add(tracked);
  }

  private chooseNext(): void {
    if (!this.ready || this.stopping || this.jobs === undefined || !this.jobs.live) return;
    const open = this.jobs.entries().filter((e) => !isEndedJob(e.value));
    const { clock } = this.parts.bus;
    const now = clock.monotonicMs();
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
      parallel: this.parts.config.ansible.parallel,
    });
    for (const id of choice.take) this.begin(id, () => this.take(id));
    for (const id of choice.standby) this.begin(id, () => this.takeOver(id));
    this.timer?.cancel();
    if (choice.wakeIn !== undefined) this.timer = clock.after(choice.wakeIn, () => this.chooseNext());
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
      this.conductor = Math.max(this.conductor, value.conductor ?? 0, value.outranked ?? 0);
    }
  }

  private begin(id: string, work: () => Promise<void>): void {
    this.runs.set(id, undefined);
    this.track(
      work().finally(() => {
        this.runs.delete(id);
        this.chooseNext();
      }),
    );
  }

  private async take(id: string): Promise<void> {
    const seen = this.jobs?.get(id)?.value;
    if (seen === undefined || seen.status !== 'Queued') return;
    const refusal = this.refusal(seen);
    if (refusal !== undefined) {
      const ended = await refuseJob(this.parts.bus, id, refusal);
      if (ended === undefined) return;
      this.finished.add(id);
      await this.publish(ended, 'refused');
      await this.parts.bus.endLog(id);
      return;
    }
    await this.carryOut(seen, new Lease(this.parts.bus, { name: leaseName(id), holder: this.me }), LEASE_WAIT_MS);
  }

  /** Why a queued job must not be begun. */
  private refusal(job: JobRecord): JobRefusal | undefined {
    if (job.cancel !== undefined) return { error: `cancelled by ${job.cancel.by}` };
    const { conductor } = this;
    if (job.conductor === undefined || job.conductor >= conductor) return undefined;
    // The token goes with it: where the store went back, the conductor is the present one, and must get above it.
    const error = `STALE_TOKEN: ordered by a conductor (${job.conductor}) that has been replaced (${conductor})`;
    return { error, outranked: conductor };
  }

  /**
   * Contends for the lease of a job that runs elsewhere, for as long as it runs. The lease is had 1.25 × its time
   * after its last renewal was seen; the old worker's guard has killed everything at 0.85 × after that was sent.
   */
  private async takeOver(id: string): Promise<void> {
    // A key that is not there was taken away: the job is Running, so somebody holds its lease, or did.
    const floor = (): Promise<number> => Promise.resolve(1);
    const lease = new Lease(this.parts.bus, { name: leaseName(id), holder: this.me, floor });
    const ended = new AbortController();
    const check = (): void => {
      const job = this.jobs?.get(id)?.value;
      if (job === undefined || isEndedJob(job) || this.stopping) ended.abort();
    };
    const off = this.jobs?.onChange(check);
    const round = this.parts.bus.clock.every(ROUND_MS, check);
    lease.start();
    try {
      await Promise.race([lease.whenHeld(), aborted(ended.signal)]);
    } finally {
      off?.();
      round.cancel();
    }
    const job = this.jobs?.get(id)?.value;
    if (!lease.held || job === undefined || isEndedJob(job) || this.stopping) {
      // An ended job's lease is of no more use; one that was only lost again belongs to whoever has it now.
      await lease.stop({ forget: job === undefined || isEndedJob(job) });
      return;
    }
    this.parts.log.warn({ job: id, was: job.worker, generation: job.generation }, 'taking over a job');
    await this.carryOut(job, lease, LEASE_WAIT_MS);
  }

  private async carryOut(seen: JobRecord, lease: Lease, waitMs: number): Promise<void> {
    const { bus, log, config, ansible } = this.parts;
    let forget = false;
    try {
      const claimed = await claimJob(bus, seen, this.me);
      if (claimed === undefined) return;
      lease.start();
      const wait = new AbortController();
      const timer = bus.clock.after(waitMs, () => wait.abort());
      await Promise.race([lease.whenHeld(), aborted(wait.signal)]).finally(() => timer.cancel());
      lease.check();
      const nowMs = bus.clock.monotonicMs();
      const ranMs = nowMs - (this.runningSince.get(seen.id) ?? nowMs);
      const run = new JobRun({ bus, config, ansible, ...claimed, lease, nodes: () => this.seenNodes(), ranMs });
      this.runs.set(seen.id, run);
      if (this.stopping) run.abandon();
      // A cancel that came between the claim and now was seen by nobody.
      const now = this.jobs?.get(seen.id)?.value;
      if (now?.cancel !== undefined) run.cancel(now.cancel.by);
      lease.on((event) => {
        if (event === 'lost') run.abandon();
      });
      // It may fail long before it is awaited: handled by nobody, that would be the end of this process.
      const told = this.publish(claimed.job, `running.${claimed.job.generation}`).catch((error: unknown) =>
        log.warn(
          { job: seen.id, reason: MusterError.from(error).message },
          'the event of the begin of a job could not be published',
        ),
      );
      await run.run();
      forget = true;
      this.finished.add(seen.id);
      await told;
      await bus.endLog(seen.id);
    } catch (error) {
      const failure = MusterError.from(error);
      const over = ['STALE_TOKEN', 'LEASE_LOST', 'BUS_UNAVAILABLE', 'TIMEOUT'].includes(failure.code);
      if (!over) throw error;
      log.warn({ job: seen.id, code: failure.code, reason: failure.message }, 'let go of a job');
    } finally {
      await lease.stop({ forget });
    }
  }

  private seenNodes(): NodeRecord[] | undefined {
    return this.nodes?.live === true ? this.nodes.entries().map((e) => e.value) : undefined;
  }

  private publish(job: JobRecord, step: string): Promise<void> {
    const { id, kind, status, nodes, task, error } = job;
    return this.parts.bus.emit('job', id, { job: id, kind, status, nodes, task, error }, { id: `job.${id}.${step}` });
  }
}

const leaseName = (job: string): string => `job.${job}`;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
