import { Bus, TokenMemory, type Entry, type LeaseRecord } from '#bus';
import {
  defaultSettings,
  inPlaceOf,
  isEndedJob,
  isOpenIncident,
  MusterError,
  POWER_QUARANTINE_MS,
  SETTINGS_KEY,
  type ClusterSettings,
  type IncidentRecord,
  type JobKind,
  type JobRecord,
  type NodeRecord,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { isOrderPending } from '#domain/incident/pending-order.js';
import { mayCancel, wasCommanded } from '#domain/incident/phases.js';
import { retryBackoff } from '#domain/incident/retry.js';
import { go } from '#domain/incident/steps.js';
import { jobAfter, newJob } from '#domain/job/changes.js';
import { newIncident } from '../../../apps/inventory/src/plan/incidents/new-incident.js';
import { stopped } from '../../../apps/inventory/src/incidents/stopped-incident.js';
import { answerRpc } from '../nats/answer-rpc.js';
import type { Chassis } from './chassis.js';

/** Of silence, until the verdict is DOWN, ms; and of life, until it is UP. */
const DOWN_MS = 3_200;
const UP_MS = 1_000;
/** The conductor's round, ms. */
const ROUND_MS = 500;

export interface PlayedInventoryParts {
  bus: Bus;
  nodes: readonly NodeRecord[];
  chassis: ReadonlyMap<string, Chassis>;
  /** It has agreed to a power-off. */
  agreed: (node: string) => void;
}

/**
 * What the hands need of inventory: it opens incidents for the dead, answers the recheck before a power-off, tries
 * again what failed, powers on what was recovered, and hands out jobs. It plays the *decisions* (they are played by
 * themselves elsewhere) and writes with the product's own incident machine, by compare-and-set. It never dies.
 */
export class PlayedInventory {
  private readonly changedAt = new Map<string, { lives: boolean; at: number }>();
  private readonly failedSince = new Map<string, { key: string; at: number }>();
  private readonly commandedSince = new Map<string, { key: string; at: number }>();
  private settings: ClusterSettings = withEnforce(defaultSettings('sim'));
  private settled = new Set<string>();
  private count = 0;
  private conductors = 1;
  private tokens: TokenMemory | undefined;

  constructor(private readonly p: PlayedInventoryParts) {}

  async open(): Promise<void> {
    const { bus } = this.p;
    await bus.createBuckets();
    await bus.bucket<ClusterSettings>('settings').create(SETTINGS_KEY, this.settings);
    for (const node of this.p.nodes) await this.putNode(node);
    answerRpc(bus, 'inventory.incidents.recheck', (q) => this.recheck(q));
    answerRpc(bus, 'inventory.workloads.mayStart', () => ({ allowed: true, reason: '' }));
    this.tokens = TokenMemory.follow(bus, await bus.bucket<LeaseRecord>('leases').view());
    this.round();
  }

  /** As of now, as a detector would say it. */
  verdictOf(node: string): 'UP' | 'SUSPECT' | 'DOWN' {
    const chassis = this.p.chassis.get(node);
    const now = this.p.bus.clock.monotonicMs();
    const lives = chassis?.lives === true;
    const last = this.changedAt.get(node);
    if (last === undefined || last.lives !== lives) this.changedAt.set(node, { lives, at: now });
    const forMs = now - (this.changedAt.get(node)?.at ?? now);
    if (lives) return last !== undefined && last.lives && forMs < UP_MS ? 'SUSPECT' : 'UP';
    return forMs >= DOWN_MS ? 'DOWN' : 'SUSPECT';
  }

  /** The conductor is gone, or there again: requests are answered all the same. */
  conducts(is: boolean): void {
    this.conductors += is ? 1 : -1;
  }

  /** A job for the provisioners on nodes of its own, accepted: it has to end. */
  async order(kind: JobKind, size: number, timeoutMs?: number): Promise<string> {
    const id = `job-${++this.count}`;
    const nodes = Array.from({ length: kind === 'recover' ? 1 : size }, (_, i) => `${id}-${i + 1}`);
    for (const name of nodes) await this.putNode(aNode(name, { hostGroup: 'service-worker' }));
    const job = newJob({
      id,
      kind,
      nodes,
      desc: `${kind} ${nodes.join(' ')}`,
      extraVars: {},
      task: '',
      createdAt: this.p.bus.clock.wallMs(),
      by: 'sim',
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(kind === 'recover' && {
        recover: [{ workload: `w-${id}`, generation: 1, driver: 'ansible', spec: {} }],
      }),
    });
    // Asked again after a lost answer, it may be there already.
    await this.patiently(() =>
      this.p.bus.bucket<JobRecord>('jobs').mutate(id, (now) => (now === undefined ? job : undefined)),
    );
    return id;
  }

  async cancel(job: string): Promise<void> {
    const { bus } = this.p;
    const calledBack = (now: JobRecord): JobRecord | undefined =>
      jobAfter(now, { kind: 'called-back', by: 'sim', at: bus.clock.wallMs() });
    await this.patiently(() => bus.bucket<JobRecord>('jobs').mutate(job, (now) => now && calledBack(now.value)));
  }

  private putNode(node: NodeRecord): Promise<unknown> {
    return this.patiently(() => this.p.bus.bucket<NodeRecord>('nodes').mutate(node.name, () => node));
  }

  /** An operator wants it on; where it has no incident, one that is closed carries the order. */
  async orderOn(node: string): Promise<void> {
    const { bus } = this.p;
    const at = bus.clock.wallMs();
    await this.patiently(() =>
      bus.bucket<IncidentRecord>('incidents').mutate(node, (now) => {
        const i: IncidentRecord = now?.value ?? { ...this.fresh(node, at), phase: 'closed' };
        if (i.phase !== 'closed' && i.phase !== 'survived' && i.phase !== 'cancelled') return undefined;
        const after = Math.max(0, ...i.commands.map((c) => c.n));
        return { ...i, order: { action: 'on', by: 'sim', reason: 'wanted', at, after } };
      }),
    );
  }

  /** An operator orders it off, whatever becomes of an order before it. */
  async orderOff(node: string): Promise<void> {
    await this.patiently(() =>
      this.p.bus.bucket<IncidentRecord>('incidents').mutate(node, (now) => {
        if (now !== undefined && isOpenIncident(now.value)) return undefined;
        const at = this.p.bus.clock.wallMs();
        const fresh = inPlaceOf(this.fresh(node, at), now?.value);
        return { ...go(fresh, 'fencing', 'Ordered off.', at), cause: 'manual', by: 'sim' };
      }),
    );
  }

  /**
   * An operator's pause. Resolves when it is acknowledged: settings first, then every incident, as the product does.
   * @returns until when it is, on the wall clock: its name
   */
  async pause(forMs: number): Promise<number> {
    const at = this.p.bus.clock.wallMs();
    const paused = { until: at + forMs, by: 'sim', reason: 'a pause' };
    await this.writeSettings({ ...this.settings.fencing, paused });
    for (const { name } of this.p.nodes)
      await this.change(name, (i) => stopped(i, { paused }, 'sim', this.p.bus.clock.wallMs()));
    return paused.until;
  }

  /** The pause stands: none was ordered after it. */
  isPausedUntil(until: number): boolean {
    return this.settings.fencing.paused?.until === until;
  }

  /** Ends this pause, and no other that was ordered since. */
  async resume(until: number): Promise<void> {
    if (!this.isPausedUntil(until)) return;
    const { paused: _over, ...fencing } = this.settings.fencing;
    await this.writeSettings(fencing);
  }

  private async writeSettings(fencing: ClusterSettings['fencing']): Promise<void> {
    this.settings = { ...this.settings, fencing };
    await this.patiently(() =>
      this.p.bus.bucket<ClusterSettings>('settings').mutate(SETTINGS_KEY, () => this.settings),
    );
  }

  private get isPaused(): boolean {
    return (this.settings.fencing.paused?.until ?? 0) > this.p.bus.clock.wallMs();
  }

  private async recheck(
    q: RpcRequest<'inventory.incidents.recheck'>,
  ): Promise<RpcAnswer<'inventory.incidents.recheck'>> {
    const entry = await this.p.bus.bucket<IncidentRecord>('incidents').get(q.node);
    if (entry === undefined || entry.value.id !== q.incident)
      return { go: false, reason: 'There is another incident.', revision: entry?.revision ?? 0 };
    const { value: i, revision } = entry;
    if (i.phase !== 'fencing') return { go: false, reason: `The incident is ${i.phase}.`, revision };
    if (q.epoch < (i.epoch ?? 0)) return { go: false, reason: 'An older token asks.', revision };
    if (this.isPaused) return { go: false, reason: 'Fencing is paused.', revision };
    const verdict = this.verdictOf(q.node);
    if (verdict === 'DOWN' || i.cause === 'manual') {
      await this.tokens?.keep(q.epoch);
      this.p.agreed(q.node);
      return { go: true, reason: verdict, revision };
    }
    await this.change(q.node, (now) => this.taken(now, verdict));
    return { go: false, reason: `The verdict is ${verdict}.`, revision };
  }

  /** Before the first command any other verdict than DOWN ends it. */
  private taken(i: IncidentRecord, verdict: string): IncidentRecord | undefined {
    return mayCancel(i) ? go(i, 'cancelled', `The verdict is ${verdict}.`, this.p.bus.clock.wallMs()) : undefined;
  }

  private round(): void {
    void this.check()
      .catch((e: unknown) => {
        if (MusterError.from(e).code === 'INTERNAL') throw e;
      })
      .finally(() => this.p.bus.clock.after(ROUND_MS, () => this.round()));
  }

  private async check(): Promise<void> {
    if (this.conductors < 1) return;
    for (const { name } of this.p.nodes) await this.attend(name);
    for (const job of await this.p.bus.bucket<JobRecord>('jobs').list())
      if (isEndedJob(job.value) && !job.value.settled && !this.settled.has(job.key)) {
        this.settled.add(job.key);
        await this.p.bus.bucket<JobRecord>('jobs').mutate(job.key, (now) => now && { ...now.value, settled: true });
      }
  }

  private async attend(node: string): Promise<void> {
    const verdict = this.verdictOf(node);
    const entry = await this.p.bus.bucket<IncidentRecord>('incidents').get(node);
    const i = entry?.value;
    const at = this.p.bus.clock.wallMs();
    if (i === undefined || i.phase === 'closed' || i.phase === 'survived' || i.phase === 'cancelled') {
      const ordered = i !== undefined && isOrderPending(i);
      if (verdict === 'DOWN' && !this.isPaused && !ordered) await this.begin(node, entry);
      return;
    }
    if (i.phase === 'suppressed' && verdict === 'DOWN' && !this.isPaused)
      await this.change(node, (now) => (now.phase === 'suppressed' ? go(now, 'fencing', 'Resumed.', at) : undefined));
    else if (i.phase === 'fencing' || i.phase === 'failed' || i.phase === 'suppressed')
      await this.attendFencing(node, i, verdict);
    else if (i.phase === 'fenced') await this.change(node, (now) => this.recovered(now));
    else if (i.phase === 'recovered' && verdict === 'UP' && i.powerOn?.done === true)
      await this.change(node, (now) => (now.phase === 'recovered' ? go(now, 'closed', 'It serves.', at) : undefined));
  }

  private async attendFencing(node: string, i: IncidentRecord, verdict: string): Promise<void> {
    const now = this.p.bus.clock.monotonicMs();
    if (verdict === 'UP') {
      if (!wasCommanded(i)) await this.change(node, (n) => this.taken(n, verdict));
      else if (this.ageOf(this.commandedSince, node, `${i.id}/${i.commands.length}`, now) >= POWER_QUARANTINE_MS)
        await this.change(node, (n) => (n.commands.length === i.commands.length ? this.survived(n) : undefined));
      return;
    }
    if (i.phase !== 'failed' || verdict !== 'DOWN' || this.isPaused) return;
    if (this.ageOf(this.failedSince, node, `${i.id}/${i.attempt}`, now) < retryBackoff(i)) return;
    await this.change(node, (n) => {
      if (n.phase !== 'failed') return undefined;
      return { ...go(n, 'fencing', 'Tried again.', this.p.bus.clock.wallMs()), level: 0, attempt: n.attempt + 1 };
    });
  }

  private survived(i: IncidentRecord): IncidentRecord | undefined {
    if (i.phase !== 'fencing' && i.phase !== 'failed') return undefined;
    return go(i, 'survived', 'It lives.', this.p.bus.clock.wallMs());
  }

  /** Nothing of it is to be started elsewhere here: it is recovered at once, and wanted on again. */
  private recovered(i: IncidentRecord): IncidentRecord | undefined {
    if (i.phase !== 'fenced') return undefined;
    const at = this.p.bus.clock.wallMs();
    const recovering = go(i, 'recovering', 'Nothing to recover.', at);
    return { ...go(recovering, 'recovered', 'Recovered.', at), powerOn: { wanted: true, requestedAt: at } };
  }

  private async begin(node: string, before: Entry<IncidentRecord> | undefined): Promise<void> {
    const at = this.p.bus.clock.wallMs();
    const incidents = this.p.bus.bucket<IncidentRecord>('incidents');
    const fresh = go(inPlaceOf(this.fresh(node, at), before?.value), 'fencing', 'All gates pass.', at);
    if (before === undefined) await incidents.create(node, fresh);
    else await incidents.update(node, fresh, before.revision);
  }

  private fresh(node: string, at: number): IncidentRecord {
    const record = this.p.nodes.find((n) => n.name === node) as NodeRecord;
    const id = `i-${node}-${++this.count}`;
    return newIncident({ id, node: record, cause: 'auto', reason: 'DOWN', gates: [], conductor: 1, story: 'DOWN', at });
  }

  private change(node: string, fn: (i: IncidentRecord) => IncidentRecord | undefined): Promise<{ changed: boolean }> {
    return this.patiently(() =>
      this.p.bus.bucket<IncidentRecord>('incidents').mutate(node, (now) => (now ? fn(now.value) : undefined)),
    );
  }

  private ageOf(book: Map<string, { key: string; at: number }>, node: string, key: string, now: number): number {
    if (book.get(node)?.key !== key) book.set(node, { key, at: now });
    return now - (book.get(node)?.at ?? now);
  }

  /** Nothing of what is told here may be lost to a bus that is away for a while. */
  private async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (e) {
        const { code } = MusterError.from(e);
        if (code !== 'TIMEOUT' && code !== 'BUS_UNAVAILABLE') throw e;
        await this.p.bus.clock.sleep(200);
      }
    }
  }
}

const withEnforce = (s: ClusterSettings): ClusterSettings => ({ ...s, fencing: { ...s.fencing, mode: 'enforce' } });
