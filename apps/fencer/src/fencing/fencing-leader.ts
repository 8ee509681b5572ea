import { setMaxListeners } from 'node:events';
import { Lease, tokenFloor, WorkerRegistry, type Bus, type BusLog, type KvView, type WorkerView } from '#bus';
import {
  fencerFloor,
  MusterError,
  pendingOn,
  POWER_QUARANTINE_MS,
  type IncidentRecord,
  type NodeRecord,
  type Timer,
} from '#contracts';
import { nextDevices } from '#domain/power/power-wish.js';
import { offMark } from '#domain/power/quarantine.js';
import type { DriverWatch } from '../drivers/driver-watch.js';
import type { BmcQueue } from '../power/bmc-queue.js';
import type { IdentifyingPower } from '../power/power-control.js';
import { FirstSeen } from '../power/first-seen.js';
import { concernsFencer, NodeFencer } from './node-fencer.js';
import { withDriverBack } from './incident-log.js';
import { isOwnHost, type OwnHost } from './own-host.js';
import { standsBack, type Waiting } from './stand-back.js';

/** A change that was missed is noticed this much later, ms. */
const SWEEP_MS = 1_000;

export interface FencingLeaderParts {
  bus: Bus;
  /** Name by which it holds the lease and signs its commands. */
  instance: string;
  log: BusLog;
  power: IdentifyingPower;
  /** The same for whoever else gives commands from this process. */
  queue: BmcQueue;
  drivers: Pick<DriverWatch, 'names' | 'works' | 'onChange'>;
  /** Asked anew each time: addresses come and go. */
  ownHost: () => OwnHost;
}

interface Term {
  token: number;
  over: AbortController;
  lease: Lease;
}

/** What every fencing of a term waits for, each by a listener or two of its own: so many at once are no leak. */
function endOfTerm(): AbortController {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  return over;
}

/**
 * Contends for lease `fencer`, and while it is held carries every incident that waits for power: one {@link NodeFencer}
 * per node, side by side. All fencers watch the incidents, so that whoever takes over knows the power quarantines. Its
 * own host it never powers off: it leaves the lease to another for that.
 */
export class FencingLeader {
  private readonly active = new Map<string, NodeFencer>();
  /** The last `off` of each node, and the last `on` that may still be carried out, as they stand. */
  private readonly offs = new FirstSeen();
  private readonly ons = new FirstSeen();
  private readonly underWay = new Set<Promise<void>>();
  /** Revisions of incidents whose backoff is being ended. */
  private readonly hastened = new Set<number>();
  private lease: Lease | undefined;
  /** Taking up the lease, or giving it up. */
  private turning: Promise<void> | undefined;
  private stopping = false;
  private incidents: KvView<IncidentRecord> | undefined;
  private nodes: KvView<NodeRecord> | undefined;
  private workers: WorkerView | undefined;
  private term: Term | undefined;
  private timer: Timer | undefined;

  constructor(private readonly parts: FencingLeaderParts) {}

  /** Resolves when the records are followed; whether the lease is held is another matter. */
  async start(): Promise<void> {
    const { bus } = this.parts;
    [this.incidents, this.nodes, this.workers] = await Promise.all([
      bus.bucket<IncidentRecord>('incidents').view(),
      bus.bucket<NodeRecord>('nodes').view(),
      WorkerRegistry.watch(bus),
    ]);
    for (const { value } of this.incidents.entries()) this.note(value);
    this.incidents.onChange((node, incident) => {
      if (incident !== undefined) this.note(incident);
      this.active.get(node)?.wake();
      this.sweep();
    });
    this.workers.onChange(() => this.sweep());
    this.parts.drivers.onChange(() => this.sweep());
    this.timer = bus.clock.every(SWEEP_MS, () => this.sweep());
    this.sweep();
  }

  /** Commands under way are ended, and their ends written, before the lease is given up. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.timer?.cancel();
    await this.turning;
    await this.giveUp();
    await Promise.all([this.incidents?.close(), this.nodes?.close(), this.workers?.close()]);
  }

  private contend(): void {
    const { bus, instance } = this.parts;
    const floor = (): Promise<number> => tokenFloor(bus, () => this.highestToken());
    const lease = new Lease(bus, { name: 'fencer', holder: instance, floor });
    this.lease = lease;
    lease.on((event, token) => {
      this.term?.over.abort();
      this.term = event === 'acquired' ? { token, over: endOfTerm(), lease } : undefined;
      this.active.clear();
      this.sweep();
    });
    lease.start();
  }

  private highestToken(): number | undefined {
    return this.incidents?.live === true ? fencerFloor(this.incidents.entries().map((e) => e.value)) : undefined;
  }

  private async giveUp(): Promise<void> {
    const term = this.term;
    this.term = undefined;
    term?.over.abort();
    // Commands are ended and their ends written before another may act.
    await Promise.all(this.underWay);
    await this.lease?.stop();
    this.lease = undefined;
  }

  /** Starts what waits and is not under way. */
  private sweep(): void {
    if (this.incidents === undefined || this.stopping) return;
    this.turn(this.incidents);
    if (this.incidents.live) for (const book of [this.offs, this.ons]) book.keep(this.incidents);
    const term = this.term;
    if (term === undefined) return;
    const host = this.parts.ownHost();
    for (const { value, revision } of this.incidents.entries()) {
      if (this.active.has(value.node) || this.isOwn(value, host)) continue;
      if (concernsFencer(value)) this.begin(value.node, term);
      else this.hasten(value, revision, term);
    }
  }

  /** With a driver back for want of which it failed, an incident need not wait for its backoff. */
  private hasten(i: IncidentRecord, revision: number, term: Term): void {
    const { bus, drivers, instance, log } = this.parts;
    const driver = i.phase === 'failed' ? i.lacking?.find((name) => drivers.works(name)) : undefined;
    if (driver === undefined || this.hastened.has(revision) || !term.lease.held) return;
    this.hastened.add(revision);
    const by = { token: term.token, fencer: instance, at: bus.clock.wallMs() };
    const written = Promise.resolve()
      .then(() => bus.bucket<IncidentRecord>('incidents').update(i.node, withDriverBack(i, driver, by), revision))
      .then(() => undefined)
      .catch((error: unknown) => log.debug({ node: i.node, reason: MusterError.from(error).message }, 'not hastened'))
      .finally(() => {
        this.hastened.delete(revision);
        this.underWay.delete(written);
      });
    this.underWay.add(written);
  }

  private isOwn(i: IncidentRecord, host: OwnHost): boolean {
    const node = this.nodes?.get(i.node)?.value;
    return node !== undefined && isOwnHost(node, host);
  }

  /** Contends, or leaves it to another fencer that can do what this one cannot. */
  private turn(incidents: KvView<IncidentRecord>): void {
    if (this.turning !== undefined) return;
    const others = this.workers?.stale === false ? this.workers.live() : [];
    const { instance: id, drivers } = this.parts;
    const me = { id, host: this.parts.ownHost(), works: (driver: string) => drivers.works(driver) };
    const back = standsBack(me, this.waiting(incidents), others);
    if (!back && this.lease === undefined) this.contend();
    if (!back || this.lease === undefined) return;
    this.parts.log.warn({}, 'another fencer can do what this one cannot: the lease is left to it; see muster drivers');
    this.turning = this.giveUp()
      .catch((error: unknown) =>
        this.parts.log.error(
          { reason: MusterError.from(error).message },
          'the lease was not given up in order: it ends by itself',
        ),
      )
      .finally(() => (this.turning = undefined));
  }

  private waiting(incidents: KvView<IncidentRecord>): Waiting[] {
    return incidents.entries().flatMap(({ key, value }) => {
      const node = this.nodes?.get(key)?.value;
      if (node === undefined || !(concernsFencer(value) || value.phase === 'failed')) return [];
      return [{ node, drivers: nextDevices(value, node.powerLevels).map((d) => d.driver) }];
    });
  }

  private begin(node: string, term: Term): void {
    const { bus, power, queue, drivers, instance } = this.parts;
    const fencer = new NodeFencer(node, {
      bus,
      lease: term.lease,
      token: term.token,
      power,
      queue,
      drivers: () => drivers.names(),
      fencer: instance,
      quietSince: (i) => this.quietSince(i),
      onUntil: (i) => this.onUntil(i),
      signal: term.over.signal,
    });
    this.active.set(node, fencer);
    const done: Promise<void> = fencer
      .run()
      .catch((error: unknown) =>
        this.parts.log.error(
          { node, reason: MusterError.from(error).message },
          `fencing of this node broke off, and is begun anew: where that lasts, see muster incident get ${node}`,
        ),
      )
      .finally(() => {
        this.underWay.delete(done);
        if (this.active.get(node) === fencer) this.active.delete(node);
      });
    this.underWay.add(done);
  }

  private note(i: IncidentRecord): void {
    this.quietSince(i);
    this.onUntil(i);
  }

  /** Since when the incident's last `off` stands as it does, as seen by this process. */
  private quietSince(i: IncidentRecord): number {
    return this.offs.since(i.node, offMark(i), this.parts.bus.clock.monotonicMs());
  }

  private onUntil(i: IncidentRecord): number | undefined {
    const on = pendingOn(i);
    if (on === undefined) return undefined;
    return this.ons.since(i.node, `${on.incident}/${on.n}`, this.parts.bus.clock.monotonicMs()) + POWER_QUARANTINE_MS;
  }
}
