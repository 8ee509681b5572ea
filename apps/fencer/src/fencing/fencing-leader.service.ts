import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Lease, type KvView } from '#bus';
import { MusterError, type IncidentRecord } from '#contracts';
import { ServiceContext } from '#service';
import { DriverRegistry } from '../drivers/driver-registry.js';
import { BmcQueue } from '../power/bmc-queue.js';
import { PowerCommander } from '../power/power-commander.js';
import { concernsFencer, NodeFencer } from './node-fencer.js';
import { offMark } from './power-on-step.js';

/** A change that was missed is noticed this much later, ms. */
const SWEEP_MS = 1_000;

/**
 * Contends for lease `fencer`, and while it is held carries every incident that waits for power: one {@link NodeFencer}
 * per node, side by side. All fencers watch the incidents, so that W is known to whoever takes over.
 */
@Injectable()
export class FencingLeader implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly lease: Lease;
  private readonly active = new Map<string, NodeFencer>();
  private readonly quiet = new Map<string, { mark: string; sinceMs: number }>();
  private readonly finished = new Set<Promise<void>>();
  private incidents: KvView<IncidentRecord> | undefined;
  private term: { token: number; over: AbortController } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly drivers: DriverRegistry,
    private readonly commander: PowerCommander,
    private readonly queue: BmcQueue,
  ) {
    this.lease = new Lease(context.bus, { name: 'fencer', holder: context.config.instance });
  }

  async onApplicationBootstrap(): Promise<void> {
    this.incidents = await this.context.bus.bucket<IncidentRecord>('incidents').view();
    for (const { value } of this.incidents.entries()) this.noteQuiet(value);
    this.incidents.onChange((node, incident) => {
      if (incident !== undefined) this.noteQuiet(incident);
      this.active.get(node)?.wake();
      this.sweep();
    });
    this.lease.on((event, token) => {
      this.term?.over.abort();
      this.term = event === 'acquired' ? { token, over: new AbortController() } : undefined;
      this.active.clear();
      this.sweep();
    });
    this.timer = setInterval(() => this.sweep(), SWEEP_MS);
    this.lease.start();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    const term = this.term;
    this.term = undefined;
    term?.over.abort();
    // Commands are ended and their ends written before another may act.
    await Promise.all(this.finished);
    await this.lease.stop();
    await this.incidents?.close();
  }

  /** Starts what waits and is not under way. */
  private sweep(): void {
    const term = this.term;
    if (term === undefined || this.incidents === undefined) return;
    for (const { value } of this.incidents.entries())
      if (concernsFencer(value) && !this.active.has(value.node)) this.begin(value.node, term);
    if (this.incidents.live) this.forgetQuiet(this.incidents);
  }

  private begin(node: string, term: { token: number; over: AbortController }): void {
    const fencer = new NodeFencer(node, {
      bus: this.context.bus,
      lease: this.lease,
      token: term.token,
      commander: this.commander,
      queue: this.queue,
      drivers: () => this.drivers.names(),
      fencer: this.context.config.instance,
      quietSince: (i) => this.noteQuiet(i),
      signal: term.over.signal,
    });
    this.active.set(node, fencer);
    const done: Promise<void> = fencer
      .run()
      .catch((error: unknown) =>
        this.context.log.error({ node, reason: MusterError.from(error).message }, 'fencing of this node broke off'),
      )
      .finally(() => {
        this.finished.delete(done);
        if (this.active.get(node) === fencer) this.active.delete(node);
      });
    this.finished.add(done);
  }

  /** Since when the incident's last `off` stands as it does, as seen by this process. */
  private noteQuiet(i: IncidentRecord): number {
    const mark = offMark(i);
    const known = this.quiet.get(i.node);
    if (known?.mark === mark) return known.sinceMs;
    const sinceMs = performance.now();
    this.quiet.set(i.node, { mark, sinceMs });
    return sinceMs;
  }

  private forgetQuiet(incidents: KvView<IncidentRecord>): void {
    for (const node of this.quiet.keys()) if (incidents.get(node) === undefined) this.quiet.delete(node);
  }
}
