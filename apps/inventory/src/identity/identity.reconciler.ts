import { Injectable } from '@nestjs/common';
import { identityBasis, knownIdentity, MusterError, type NodeRecord } from '#contracts';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import type { Pace, Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { KnownNames } from '../store/known-names.js';
import { identityAlarmCodes, identityAlarms } from './identity-alarms.js';
import { IdentityReads } from './identity-reads.js';

/** A device is asked again after this, ms: cables are moved while nobody looks. */
const AGAIN_MS = 6 * 3_600_000;
/** The same where it could not be read, or nobody was there to read it. */
const FAILED_AGAIN_MS = 60_000;
/** Between two looks at all nodes: runs come with every change of any record. */
const PACE: Pace = { everyMs: 500 };
/** What names stand for may have changed after this, ms, though no node has: as the gates look. */
const PLACES_MS = 5_000;
/** Reads at once: the queue of the fencers is for those who fence. */
const AT_ONCE = 4;

interface Plan {
  /** What the last read, or the planned one, is about: devices and what the machine says of itself. */
  about: string;
  dueAt: number;
  readAt: number;
}

/** Compares power devices with their machines in good days, and keeps the alarms about them. */
@Injectable()
export class IdentityReconciler implements Reconciler {
  private readonly plans = new Map<string, Plan>();
  private running = 0;
  /** As called for by the nodes as they are; undefined: one has changed since. */
  private wanted: { at: number; alarms: WantedAlarm[] } | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly reads: IdentityReads,
    private readonly names: KnownNames,
  ) {
    store.nodes.view.onChange(() => (this.wanted = undefined));
  }

  async reconcile(c: TaskRun): Promise<void> {
    if (this.store.nodes.view.live && this.store.alarms.view.live) await c.every('look', PACE, () => this.look(c));
  }

  private async look(c: TaskRun): Promise<void> {
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    this.readDue(nodes, c.now);
    await keepAlarms(this.alarms, identityAlarmCodes, this.wantedNow(nodes, c.now), () => void c.check());
  }

  private wantedNow(nodes: readonly NodeRecord[], now: number): readonly WantedAlarm[] {
    if (this.wanted === undefined || now - this.wanted.at > PLACES_MS)
      this.wanted = { at: now, alarms: identityAlarms(nodes, (name) => this.names.of(name)) };
    return this.wanted.alarms;
  }

  private readDue(nodes: readonly NodeRecord[], now: number): void {
    const there = new Set<string>();
    for (const node of nodes) {
      const devices = node.powerLevels.flat();
      if (devices.length === 0) continue;
      there.add(node.name);
      const about = JSON.stringify([devices.map(identityBasis), node.hardware ?? null]);
      const had = this.plans.get(node.name);
      // Whoever takes over has a record of most: those are asked in their turn, spread over the whole time.
      const known = had === undefined && devices.every((d) => knownIdentity(node, d) !== undefined);
      const plan: Plan =
        had?.about === about
          ? had
          : { about, dueAt: known ? now + this.store.random.number() * AGAIN_MS : now, readAt: now };
      this.plans.set(node.name, plan);
      // Whoever has mended the wiring sees it soon.
      const foreign = devices.some((d) => knownIdentity(node, d)?.result === 'mismatch');
      if (foreign) plan.dueAt = Math.min(plan.dueAt, plan.readAt + FAILED_AGAIN_MS);
      if (plan.dueAt > now || this.running >= AT_ONCE) continue;
      plan.readAt = now;
      plan.dueAt = now + AGAIN_MS;
      void this.readOne(node.name, plan);
    }
    for (const name of this.plans.keys()) if (!there.has(name)) this.plans.delete(name);
  }

  private async readOne(name: string, plan: Plan): Promise<void> {
    this.running++;
    try {
      const read = await this.reads.read(name);
      if (read.every((d) => d.seen !== undefined)) return;
    } catch (cause) {
      const e = MusterError.from(cause);
      this.store.bus.log.debug({ node: name, code: e.code }, `its power devices were not identified: ${e.message}`);
    } finally {
      this.running--;
    }
    plan.dueAt = this.store.clock.monotonicMs() + FAILED_AGAIN_MS;
  }
}
